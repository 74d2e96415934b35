// What pages for MTurk expect of its small helper: parameters of the address, the assignment in the form.
"use strict";

function turkGetParam(name, fallback = "") {
  const value = new URLSearchParams(window.location.search).get(name);
  return value === null ? fallback : value;
}

function turkGetSubmitToHost() {
  return turkGetParam("turkSubmitTo", "");
}

// Puts the AssignmentId into the form, and closes the form while the HIT is only looked at.
function turkSetAssignmentID(formId = "mturk_form", buttonId = "submitButton") {
  const assignment = turkGetParam("assignmentId", "");
  const form = document.getElementById(formId);
  if (form) {
    let field = form.elements.namedItem("assignmentId");
    if (!field) {
      field = document.createElement("input");
      field.type = "hidden";
      field.name = "assignmentId";
      form.append(field);
    }
    field.value = assignment;
    const host = turkGetSubmitToHost();
    if (host) {
      form.action = `${host}/mturk/externalSubmit`;
      form.method = "post";
    }
  }
  if (assignment !== "ASSIGNMENT_ID_NOT_AVAILABLE") return;
  const button = document.getElementById(buttonId);
  if (!button) return;
  button.disabled = true;
  if (button.tagName === "INPUT") button.value = "Accept the HIT first";
  else button.textContent = "Accept the HIT first";
}
