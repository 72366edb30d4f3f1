// What the keys do to the need whose card has the focus: `a` approves, `r` replies, and the buttons do the rest.

import { isPending, may } from "../../model/moment.js";
import { useKey } from "../../shell/keys.js";
import { actingOn } from "./acting.js";
import { armed } from "./approving.js";
import { needOf } from "../../model/waiting.js";

/** Without a card in focus, `a` goes to the first approval instead of answering one that nobody looks at. */
export function useNeedKeys() {
  useKey("a", "needs.key_approve", (item) => press("a", item) || (item === null && focusFirst()) || false);
  useKey("r", "needs.key_reply", (item) => press("r", item));
  useKey("Enter", "keys.open", open, { group: "move" });
}

/** Goes from the card to what it is about; a letter that is about nothing else is answered. */
function open(item, { target }) {
  if (!item?.startsWith("need:") || target.dataset.item !== item) return false;
  const way = target.querySelector(".need-actions a") ?? target.querySelector("[data-act=reply]");
  return way ? way.click() : false;
}

function press(key, item) {
  if (!item?.startsWith("need:") || !may.value.write) return false;
  const need = needOf(item.slice(5));
  const acting = need && !isPending(need.of) && actingOn(need).find((each) => each.key === key);
  if (!acting) return false;
  acting.run();
  if (armed.value && armed.value === need.approval?.id) buttonOf(item)?.focus(); // so that Enter is the second press
  return true;
}

const buttonOf = (item) => document.querySelector(`[data-item="${CSS.escape(item)}"] [data-act="approve"]`);

function focusFirst() {
  const first = document.querySelector("[data-item^='need:approval']");
  first?.focus();
  first?.scrollIntoView({ block: "nearest", inline: "nearest" });
  return Boolean(first);
}
