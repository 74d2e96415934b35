// Passkeys: a form with data-passkey="get" or "create" asks the browser for one and sends what it gives.
"use strict";

const fromText = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
const toText = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

function readOptions(given) {
  const options = structuredClone(given.publicKey);
  options.challenge = fromText(options.challenge);
  if (options.user) options.user.id = fromText(options.user.id);
  for (const list of [options.allowCredentials, options.excludeCredentials])
    for (const each of list ?? []) each.id = fromText(each.id);
  return { publicKey: options };
}

function writeCredential(found) {
  const response = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"])
    if (found.response[name]) response[name] = toText(found.response[name]);
  return JSON.stringify({
    id: found.id,
    rawId: toText(found.rawId),
    type: found.type,
    response,
    clientExtensionResults: found.getClientExtensionResults(),
  });
}

async function askBrowser(form) {
  const warning = form.querySelector(".errors");
  warning.hidden = true;
  try {
    const given = form.dataset.optionsAt
      ? (await (await fetch(form.dataset.optionsAt, { headers: { Accept: "application/json" } })).json()).request_options
      : JSON.parse(document.getElementById("passkey-options").textContent);
    const found = await navigator.credentials[form.dataset.passkey](readOptions(given));
    form.elements.credential.value = writeCredential(found);
    form.submit();
  } catch {
    warning.hidden = false;
  }
}

for (const form of document.querySelectorAll("[data-passkey]")) {
  if (!window.PublicKeyCredential) continue;
  form.hidden = false;
  form.querySelector("button").addEventListener("click", () => askBrowser(form));
  // Enter in its text field asks the browser as well; without a passkey there is nothing to send.
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    askBrowser(form);
  });
}
