// Telling a person who looks elsewhere that something needs them: a notification of the browser if they want that,
// and the number on the page's icon. A notification says what kind of thing it is and which task, in our own words;
// nothing that an agent wrote but the task's title, in one short line.

import { effect, signal } from "../vendor/ui.js";
import { waiting } from "../model/needs.js";
import { loaded, moment } from "../model/store.js";
import { t } from "../i18n.js";
import { go } from "./router.js";
import { toast } from "../ui/overlays.js";

const STORED = "hubbub_notify";
const LONGEST_TITLE = 60;

const isThere = "Notification" in globalThis;

/** Whether a person asked for notifications and the browser allows them. */
export const notifying = signal(
  isThere && Notification.permission === "granted" && localStorage.getItem(STORED) === "on",
);

/** Ask the browser, at a click of a person; it may say no, which is told. */
export async function switchNotifying(on) {
  if (on && !isThere) return toast(t("needs.notify_missing"), { kind: "error" });
  const allowed = on && (await Notification.requestPermission()) === "granted";
  if (on && !allowed) toast(t("needs.notify_denied"), { kind: "error" });
  localStorage.setItem(STORED, allowed ? "on" : "off");
  notifying.value = allowed;
  return undefined;
}

/** Whether a hidden page has a reason to go on listening. */
export const listensHidden = () => notifying.value;

/** Follow what needs a person, for as long as the page lives. What is there when it opens is not news. */
export function watchNeeds() {
  let known = null;
  effect(() => {
    const all = waiting.value;
    if (!loaded.value || moment.value) return;
    const news = known === null ? [] : all.filter(({ key }) => !known.has(key));
    known = new Set(all.map(({ key }) => key));
    badge(all.length);
    if (news.length && document.hidden && notifying.peek()) notify(news);
  });
}

function notify(news) {
  const [first] = news;
  const body = news.length > 1 ? t("needs.notify", { count: news.length }) : title(first);
  // One that has the tag of another takes its place without a sound: only the same news, of another tab, may do that.
  const tag = news.map(({ key }) => key).join(" ");
  const shown = new Notification(t(`needs.title_${first.kind}`), { body, tag });
  shown.onclick = () => {
    window.focus();
    shown.close();
    if (first.task && news.length === 1) go("needs", { task: first.task.number });
    else go("needs");
  };
}

/** Which task it is about, in one short line without invisible characters; or who asks. */
function title({ task, agent }) {
  if (!task) return agent?.name.slice(0, LONGEST_TITLE) ?? "";
  const plain = task.title.split("\n", 1)[0].replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "");
  return `T-${task.number} ${plain.length > LONGEST_TITLE ? `${plain.slice(0, LONGEST_TITLE)}…` : plain}`;
}

/** On the icon of the tab a dot, while something waits; on that of an installed page the number. */
function badge(count) {
  const link = /** @type {HTMLLinkElement|null} */ (document.querySelector("link[rel=icon]"));
  const address = new URL(count ? "../mark-waiting.svg" : "../mark.svg", import.meta.url).href;
  if (link && link.href !== address) link.href = address;
  if (count) navigator.setAppBadge?.(count).catch(() => {}); // where a page cannot be installed there is no badge
  else navigator.clearAppBadge?.().catch(() => {});
}
