// The chat page: the composer's keys, the stream's place on the screen, citations and their card.
(() => {
  "use strict";
  const NEAR_PX = 60;
  const scroll = document.getElementById("scroll");
  const jump = document.getElementById("jump");
  const card = document.getElementById("card");
  const MAX_LINES = 8;

  // Scrolling: follow the stream only while the reader is at the bottom.
  let follows = true;
  const isAtBottom = () => scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < NEAR_PX;
  const toBottom = () => { scroll.scrollTop = scroll.scrollHeight; };

  function settle() {
    if (follows) toBottom();
    jump.hidden = isAtBottom();
  }

  scroll.addEventListener("scroll", () => { follows = isAtBottom(); jump.hidden = follows; }, { passive: true });
  jump.addEventListener("click", () => { follows = true; toBottom(); });
  new ResizeObserver(settle).observe(document.getElementById("messages"));
  const wanted = new URLSearchParams(location.search).get("message");
  const chosen = wanted && document.getElementById(`message-${wanted}`);
  if (chosen) { follows = false; chosen.scrollIntoView({ block: "center" }); } else toBottom();

  // Composer.
  const composer = () => document.getElementById("composer");
  const isRunning = () => document.querySelector(".answer-running") !== null;

  function grow(area) {
    if (CSS.supports("field-sizing", "content")) return;
    area.style.blockSize = "auto";
    const line = parseFloat(getComputedStyle(area).lineHeight);
    area.style.blockSize = `${Math.min(area.scrollHeight, line * MAX_LINES + 12)}px`;
  }

  document.addEventListener("input", (event) => { if (event.target.id === "question") grow(event.target); });

  document.addEventListener("keydown", (event) => {
    if (event.target.id !== "question" || event.key !== "Enter" || event.shiftKey) return;
    if (event.isComposing || event.keyCode === 229) return; // the input method's own Enter
    event.preventDefault();
    if (!isRunning()) composer().requestSubmit();
  });

  document.body.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.elt.id === "stop-form" && event.detail.successful) document.getElementById("composer-error")?.remove();
    if (event.detail.elt.id !== "composer" || !event.detail.successful) return;
    const form = composer();
    form.querySelector("#composer-error")?.remove();
    form.elements.question.value = "";
    grow(form.elements.question);
    document.getElementById("welcome")?.remove();
    follows = true;
    settle();
    htmx.trigger(document.body, "sessions-changed");
  });

  // The stream.
  document.body.addEventListener("htmx:sseError", (event) => {
    const note = event.target.querySelector(".connection");
    if (note) note.hidden = false;
  });
  document.body.addEventListener("htmx:sseOpen", (event) => {
    const note = event.target.querySelector(".connection");
    if (note) note.hidden = true;
  });
  // A search that reads like an earlier one is not listed again.
  document.body.addEventListener("htmx:load", (event) => {
    const search = event.detail.elt;
    if (!search.matches(".search")) return;
    const same = (other) => other !== search && other.dataset.query === search.dataset.query;
    search.hidden = [...search.parentElement.children].some(same);
  });
  // An answer that is over has taken the place of its stream.
  document.body.addEventListener("htmx:load", (event) => {
    const answer = event.detail.elt;
    if (!answer.matches(".answer") || isRunning()) return;
    const announcer = document.getElementById("announcer");
    const end = answer.matches(".answer-failed") ? "failed" : answer.querySelector(".stopped") ? "stopped" : "done";
    announcer.textContent = announcer.dataset[end];
    htmx.trigger(document.body, "sessions-changed");
    markCurrent();
  });

  // Sources: one pane for all answers; a citation opens its passage there, in place.
  const pane = () => document.getElementById("sources");

  function markCurrent() {
    const shown = pane()?.dataset.message;
    const answers = document.querySelectorAll(".answer");
    for (const answer of answers) answer.classList.toggle("answer-current", answers.length > 1 && answer.id === `message-${shown}`);
  }

  function markCitation(messageId, label) {
    for (const button of document.querySelectorAll(".cite")) {
      button.classList.toggle("cite-open", button.value === label && button.getAttribute("form") === `sources-${messageId}`);
    }
  }

  function unfold(label) {
    const source = label && pane().querySelector(`[data-label="${CSS.escape(label)}"]`);
    if (!source) return;
    for (const other of pane().querySelectorAll(".source")) other.open = other === source;
    source.scrollIntoView({ block: "nearest" });
    source.querySelector("mark")?.scrollIntoView({ block: "nearest" });
  }

  async function showSources(form, button) {
    const messageId = form.elements.message.value;
    const label = button.name === "source" ? button.value : "";
    hideCard();
    if (pane()?.dataset.message !== messageId) {
      await htmx.ajax("GET", form.dataset.pane, { target: "#side", swap: "innerHTML" });
    }
    window.kbqa.showDrawer("side", button);
    markCurrent();
    markCitation(messageId, label);
    unfold(label);
  }

  document.addEventListener("submit", (event) => {
    // The first question leaves the page: a second Enter must not ask it twice.
    if (event.target.matches("#composer:not([hx-post])")) {
      if (event.target.dataset.sent) event.preventDefault();
      event.target.dataset.sent = "true";
    }
    if (!event.target.matches(".sources-form")) return;
    event.preventDefault();
    showSources(event.target, event.submitter);
  });

  // The card that a citation shows while the pointer or the focus is on it.
  function showCard(button) {
    const cards = button.closest(".answer")?.querySelector("template.cards");
    const body = cards?.content.querySelector(`[data-card="${CSS.escape(button.value)}"]`);
    if (!body) return;
    card.replaceChildren(body.cloneNode(true));
    card.hidden = false;
    button.setAttribute("aria-describedby", "card");
    const at = button.getBoundingClientRect();
    const left = Math.max(12, Math.min(at.left - 24, innerWidth - card.offsetWidth - 12));
    const above = at.top - card.offsetHeight - 8;
    card.style.translate = `${left}px ${above > 8 ? above : at.bottom + 8}px`;
  }

  function hideCard() {
    if (card.hidden) return;
    card.hidden = true;
    document.querySelector("[aria-describedby=card]")?.removeAttribute("aria-describedby");
  }

  for (const [enter, leave] of [["pointerover", "pointerout"], ["focusin", "focusout"]]) {
    document.addEventListener(enter, (event) => {
      const button = event.target.closest?.(".cite");
      if (button && event.pointerType !== "touch") showCard(button);
    });
    document.addEventListener(leave, (event) => { if (event.target.closest?.(".cite")) hideCard(); });
  }
  scroll.addEventListener("scroll", hideCard, { passive: true });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideCard(); });

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy-code]");
    if (button) window.kbqa.copy(button.parentElement.querySelector("pre").innerText);
  });

  // A refused question shows at the form's address; the page's own is the one to keep.
  if (location.pathname.endsWith("/ask")) history.replaceState(null, "", location.pathname.slice(0, -"/ask".length));

  addEventListener("pageshow", () => delete composer().dataset.sent);
  markCurrent();
})();
