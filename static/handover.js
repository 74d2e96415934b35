document.getElementById("handover").submit();
