// The documents page: uploading file by file with progress, and marking the row that is open.
(() => {
  "use strict";
  const MAX_PARALLEL = 2;
  const LEAVE_MS = 4000;
  const form = document.getElementById("upload-form");
  const input = document.getElementById("files");
  const list = document.getElementById("uploads");
  const waiting = [];
  let running = 0;

  const sentence = (key) => document.getElementById("upload-texts").content.querySelector(`[data-text="${key}"]`).textContent;

  // A hint only: the server judges for itself.
  function mistake(file) {
    const name = file.name.toLowerCase();
    if (!form.dataset.types.split(" ").some((suffix) => name.endsWith(suffix))) return "type";
    if (file.size > Number(form.dataset.maxBytes)) return "size";
    return file.size === 0 ? "empty" : null;
  }

  function addRow(file) {
    const row = document.getElementById("upload-row").content.firstElementChild.cloneNode(true);
    row.querySelector(".upload-name").textContent = file.name;
    list.append(row);
    return row;
  }

  function refuse(row, key) {
    row.classList.add("upload-bad");
    row.querySelector("progress").remove();
    const note = row.querySelector(".upload-note");
    note.classList.remove("quiet");
    note.textContent = sentence(key);
  }

  function add(files) {
    for (const file of files) {
      const row = addRow(file);
      const wrong = mistake(file);
      if (wrong) refuse(row, wrong);
      else waiting.push({ file, row });
    }
    next();
  }

  function next() {
    while (running < MAX_PARALLEL && waiting.length) send(waiting.shift());
  }

  function send({ file, row }) {
    running += 1;
    const body = new FormData();
    body.append("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    body.append("files", file);
    const request = new XMLHttpRequest();
    request.open("POST", form.action);
    request.setRequestHeader("HX-Request", "true");
    request.upload.addEventListener("progress", (event) => {
      if (!event.lengthComputable) return;
      const percent = Math.round((event.loaded / event.total) * 100);
      row.querySelector("progress").value = percent;
      row.querySelector(".upload-note").textContent = `${percent}%`;
    });
    request.addEventListener("load", () => finish(row, request));
    request.addEventListener("error", () => refuse(row, "offline"));
    request.addEventListener("loadend", () => { running -= 1; next(); });
    request.send(body);
  }

  function finish(row, request) {
    const html = document.createElement("template");
    html.innerHTML = request.responseText;
    const result = html.content.querySelector("[data-done]");
    if (!result) {
      refuse(row, "offline");
      return;
    }
    row.replaceWith(result);
    if (request.status < 400) {
      setTimeout(() => result.remove(), LEAVE_MS);
      htmx.trigger(document.body, "documents-changed");
    }
  }

  input.addEventListener("change", () => { add([...input.files]); form.reset(); });
  form.addEventListener("submit", (event) => { event.preventDefault(); add([...input.files]); form.reset(); });

  const stage = document.getElementById("stage");
  const carriesFiles = (event) => [...event.dataTransfer.types].includes("Files");
  stage.addEventListener("dragover", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    form.classList.add("is-over");
  });
  stage.addEventListener("dragleave", (event) => {
    if (!stage.contains(event.relatedTarget)) form.classList.remove("is-over");
  });
  stage.addEventListener("drop", (event) => {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    form.classList.remove("is-over");
    add([...event.dataTransfer.files]);
  });

  // Which row the right pane shows.
  function markCurrent() {
    const open = document.getElementById("detail")?.dataset.document;
    for (const row of document.querySelectorAll("tr[data-document]")) {
      row.classList.toggle("row-current", row.dataset.document === open);
    }
  }

  document.body.addEventListener("htmx:afterSwap", (event) => {
    const link = event.detail.requestConfig?.elt;
    if (link?.dataset.opens) window.kbqa.showDrawer(link.dataset.opens, link);
    markCurrent();
  });
})();
