// How far a message has got, recipient by recipient: it lies there, was announced, seen, acknowledged.

import { html } from "../vendor/ui.js";
import { t } from "../i18n.js";
import { Icon } from "../ui/controls.js";
import { Ago } from "../ui/text.js";

// The name by which people are written to: every person who belongs to the project answers for it.

export const HUB = "hub";

/** What an inbox is called on the screen. */
export const called = (name) => (name === HUB ? t("messages.people") : name);

/** Who sent a task or a message: a person by their own name. @param {{sender: string, author?: string|null}} sent */
export const senderOf = ({ sender, author }) => author ?? (sender === HUB ? t("activity.hub") : sender);

/** Who gets a message: a person by their own name. @param {{recipient: string|null, addressee?: string|null}} sent */
export const receiverOf = ({ recipient, addressee }) =>
  addressee ?? (recipient === null ? t("messages.all") : called(recipient));

const STEPS = ["acked", "seen", "notified", "stored"]; // the farthest first
const TOLD = ["notified", "seen", "acked", "dead"]; // that it was stored, the message itself says
const ICONS = {
  acked: "check-check", seen: "eye", notified: "mail-check", stored: "mail", withdrawn: "ban", dead: "triangle-alert",
};
const MOST = 4; // recipients that are told one by one without being asked for

/** How far one delivery had got at a moment, and when. @param {object} delivery @param {number} [at] now if left out */
export function reached(delivery, at = Infinity) {
  if (delivery.dead_at && delivery.dead_at <= at) return { step: "dead", at: delivery.dead_at };
  if (delivery.withdrawn_at && delivery.withdrawn_at <= at) return { step: "withdrawn", at: delivery.withdrawn_at };
  for (const step of STEPS) {
    const when = delivery[`${step}_at`];
    if (when && when <= at) return { step, at: when };
  }
  return { step: "stored", at: delivery.stored_at };
}

/** Whether there is something to tell: a reply to people waits for nobody, and reading it leaves no trace. */
const isTold = ({ delivery: { recipient, for_people: isForPeople }, step }) =>
  recipient !== HUB || isForPeople || step !== "stored";

/** @param {{deliveries: object[], addressee?: string|null, at?: number}} props */
export function Deliveries({ deliveries, addressee, at }) {
  const rows = deliveries.map((delivery) => ({ delivery, ...reached(delivery, at) })).filter(isTold);
  if (rows.length === 0) return null;
  const list = html`<ul class="deliveries">${rows.map((row) => html`<${Delivery} key=${row.delivery.id} ...${row}
    addressee=${addressee} at=${at} />`)}</ul>`;
  if (rows.length <= MOST) return list;
  return html`<details class="deliveries-many"><summary
    class="small muted">${summary(rows)}</summary>${list}</details>`;
}

function Delivery({ delivery, step, addressee, at }) {
  const receiver = receiverOf({ recipient: delivery.recipient, addressee });
  return html`<li class="row-tight meta" data-step=${step}>
    <${Icon} name=${ICONS[step]} size=${12} /><span class="clip"><bdi>${receiver}</bdi>:</span>
    <span>${stepWord(delivery, step)}</span>
    ${TOLD.filter((each) => delivery[`${each}_at`] && delivery[`${each}_at`] <= (at ?? Infinity)).map((each) =>
      html`<span key=${each} class="delivery-time" title=${t(`messages.time_${each}`)}><${Icon}
        name=${ICONS[each]} size=${11} />
        <span class="sr">${t(`messages.time_${each}`)}</span><${Ago} at=${delivery[`${each}_at`]} /></span>`)}
  </li>`;
}

/** That a letter to people lies there until one of them sees to it is no failure of delivery. */
function stepWord({ for_people: isForPeople }, step) {
  return isForPeople && step !== "acked" ? t("messages.unanswered") : t(`messages.step_${step}`);
}

/** "12 acknowledged, 3 seen, 2 not delivered yet". */
function summary(rows) {
  return ["dead", "acked", "seen", "notified", "stored", "withdrawn"]
    .map((step) => [step, rows.filter((row) => row.step === step).length])
    .filter(([, count]) => count > 0)
    .map(([step, count]) => t(`messages.count_${step}`, { count }))
    .join(", ");
}
