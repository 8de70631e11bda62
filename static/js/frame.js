// The frame: theme, drawers, dialogs, toasts and copying. Knows nothing of chats or documents.
(() => {
  "use strict";
  const root = document.documentElement;
  const NARROW = matchMedia("(width < 1100px)");
  const PHONE = matchMedia("(width < 768px)");
  const TOAST_MS = 6000;

  root.classList.add("js");

  // Theme: the system's, unless the person chose one. Runs before the first paint.
  const stored = (() => {
    try { return localStorage.getItem("theme"); } catch { return null; }
  })();
  if (stored === "light" || stored === "dark") root.dataset.theme = stored;

  function toggleTheme() {
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const next = (root.dataset.theme || system) === "dark" ? "light" : "dark";
    root.dataset.theme = next;
    try { localStorage.setItem("theme", next); } catch { /* private mode: for this page only */ }
  }

  // Drawers. While one is open everything behind it is inert, so focus stays inside.
  let opener = null;

  const openDrawer = () => document.querySelector(".drawer-open");
  const isDrawer = (pane) => (pane.id === "rail" ? PHONE : NARROW).matches;

  function showDrawer(id, from) {
    const pane = document.getElementById(id);
    if (!pane || !isDrawer(pane)) return;
    closeDrawer();
    opener = from || null;
    pane.classList.add("drawer-open");
    document.querySelector(".veil").classList.add("veil-on");
    for (const other of pane.parentElement.children) other.inert = other !== pane;
    for (const button of document.querySelectorAll(`[data-drawer="${id}"]`)) button.setAttribute("aria-expanded", "true");
    (pane.querySelector("[data-drawer-close]") || pane).focus();
  }

  function closeDrawer() {
    const pane = openDrawer();
    if (!pane) return;
    pane.classList.remove("drawer-open");
    document.querySelector(".veil").classList.remove("veil-on");
    for (const other of pane.parentElement.children) other.inert = false;
    for (const button of document.querySelectorAll("[data-drawer]")) button.setAttribute("aria-expanded", "false");
    if (opener && opener.isConnected) opener.focus();
    opener = null;
  }

  for (const query of [NARROW, PHONE]) query.addEventListener("change", closeDrawer);

  // Dialogs: a link loads its question into the one <dialog>; it opens when the answer is in.
  function showDialog() {
    const dialog = document.getElementById("dialog");
    if (!dialog.open) dialog.showModal();
    (dialog.querySelector("[autofocus], input:not([type=hidden]), [data-dialog-close]") || dialog).focus();
  }

  // Toasts. A page that asks every two seconds would else say the same again and again.
  function dress(toast) {
    const same = (other) => other !== toast && other.textContent === toast.textContent;
    if ([...toast.parentElement?.children ?? []].some(same)) toast.remove();
    else if (toast.dataset.toast !== "error") setTimeout(() => toast.remove(), TOAST_MS);
  }

  function toast(templateId) {
    const piece = document.getElementById(templateId).content.cloneNode(true);
    piece.firstElementChild.dataset.trouble = templateId;
    document.getElementById("toasts").append(piece);
  }

  function clearTroubles() {
    for (const kind of ["toast-offline", "toast-broken"]) {
      document.querySelector(`#toasts [data-trouble="${kind}"]`)?.remove();
    }
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      toast("toast-copied");
    } catch { toast("toast-broken"); }
  }

  window.kbqa = { showDrawer, closeDrawer, isDrawer, toast, copy };

  document.addEventListener("click", (event) => {
    const at = (selector) => event.target.closest(selector);
    let hit;
    if (at("[data-theme-toggle]")) toggleTheme();
    else if ((hit = at("[data-drawer]"))) showDrawer(hit.dataset.drawer, hit);
    else if (at("[data-drawer-close]")) closeDrawer();
    else if (at("[data-dialog-close]") && at("dialog")) { event.preventDefault(); at("dialog").close(); }
    else if ((hit = at("[data-toast-close]"))) hit.closest("[data-toast]").remove();
    else if ((hit = at("[data-dismiss]"))) hit.closest("li").remove();
    else if ((hit = at("[data-copy]"))) copy(document.getElementById(hit.dataset.copy).content.textContent);
  });

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !document.getElementById("dialog").open) closeDrawer();
  });

  document.addEventListener("DOMContentLoaded", () => {
    const toasts = document.getElementById("toasts");
    for (const item of toasts.children) dress(item);
    new MutationObserver((records) => {
      for (const record of records) for (const node of record.addedNodes) if (node.dataset) dress(node);
    }).observe(toasts, { childList: true });

    document.body.addEventListener("htmx:afterSwap", (event) => {
      if (event.detail.target?.id === "dialog") showDialog(); // a stream's swap has no target
    });
    document.body.addEventListener("htmx:sendError", () => toast("toast-offline"));
    document.body.addEventListener("htmx:afterRequest", (event) => {
      if (event.detail.successful) clearTroubles();
    });
    document.body.addEventListener("htmx:beforeSwap", (event) => {
      // A whole page never belongs into a fragment's place: an error, or the sign-in page.
      if (!/^\s*<!doctype/i.test(event.detail.serverResponse)) return;
      event.detail.shouldSwap = false;
      if (event.detail.isError) toast("toast-broken");
      else location.assign(event.detail.xhr.responseURL);
    });
    document.body.addEventListener("drawer", (event) => showDrawer(event.detail.value));
  });
})();
