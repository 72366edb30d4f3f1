// Saying yes. Where a machine's rule calls a call dangerous, one press is not enough: the first one arms the button.

import { signal } from "../../vendor/ui.js";
import { act } from "../../hub/actions.js";
import { may } from "../../model/moment.js";
import { toast } from "../../ui/toasts.js";
import { t } from "../../words.js";

const ARMED_FOR = 8_000; // milliseconds: a yes that was half said is forgotten

/** The id of the approval that a second press would approve. */
export const armed = signal(null);
let timer;

/** Approve, or arm what is dangerous; says whether it was approved. */
export async function approve(approval) {
  if (!may.value.write) return false;
  if (approval.dangerous && armed.value !== approval.id) {
    armed.value = approval.id;
    clearTimeout(timer);
    timer = setTimeout(() => (armed.value = null), ARMED_FOR);
    return false;
  }
  armed.value = null;
  if (!(await act("approve", { approval: approval.id }))) return false;
  toast(t("needs.approved", { who: approval.who }));
  return true;
}

export async function deny(approval) {
  if (!may.value.write || !(await act("deny", { approval: approval.id }))) return;
  toast(t("needs.denied", { who: approval.who }));
}
