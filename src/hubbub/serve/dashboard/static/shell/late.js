// What is fetched only when somebody asks for it, so that the first screen is there sooner: dialogs, mostly. All of
// it comes as soon as the page has nothing better to do, so that it is there when it is asked for, or the hub is not.
import { toast } from "../ui/toasts.js";
import { t } from "../words.js";
import { hold } from "./keys.js";

const PARTS = {
  help: () => import("./help.js"),
  dialog: () => import("../ui/dialog.js"),
  search: () => import("./search.js"),
  create: () => import("../views/task/create.js"),
  answer: () => import("../views/task/answer.js"),
  reassign: () => import("../views/task/reassign.js"),
  compose: () => import("../views/messages/compose.js"),
  why: () => import("../views/task/why.js"),
  project: () => import("../views/settings/project.js"),
  dagre: () => import("../vendor/dagre.js"),
};
/** What is too large to be fetched before anybody asks. */
const LARGE = ["dagre"];
/** What is drawn where it is asked for, so that no keys are meant for it. */
const IN_PLACE = ["dagre", "search", "why"];
const FREE = [() => true, () => true];

/**
 * What a part exports. Until a dialog is there keys do nothing: they are meant for it.
 * @param {keyof typeof PARTS} part
 * @returns {Promise<object|null>} null: it did not come, which is told, or nobody waits for it any more
 */
export async function late(part) {
  const [end, fail] = IN_PLACE.includes(part) ? FREE : hold();
  try {
    const found = await PARTS[part]();
    return end() ? found : null;
  } catch {
    if (fail()) toast(t("errors.unreachable"), { kind: "error" });
    return null;
  }
}

/** What is on its way before it is asked for, and whether anything more is to come so. */
let coming = Promise.resolve();
let isAhead = true;

/** Have everything here before it is asked for, one by one; what does not come now comes when it is asked for. */
export function fetchAhead() {
  const idle = globalThis.requestIdleCallback ?? setTimeout;
  idle(async () => {
    for (const name of Object.keys(PARTS).filter((each) => !LARGE.includes(each))) {
      if (!isAhead) return;
      coming = PARTS[name]().catch(() => {});
      await coming;
    }
  });
}

/** Fetch nothing more ahead: the login is about to end. @returns {Promise<void>} when nothing is on its way any more */
export function stopAhead() {
  isAhead = false;
  return coming;
}
