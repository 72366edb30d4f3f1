// What somebody is asked to allow: who asks, since when, every line of the call, in which folder, and why.

import { html, useState } from "../vendor/ui.js";
import { read } from "../hub/endpoints.js";
import { t } from "../i18n.js";
import { Button } from "../ui/controls.js";
import { toast } from "../ui/overlays.js";
import { Ago, Text } from "../ui/text.js";
import { HUB } from "./deliveries.js";

/**
 * @param {{approval: import("../model/fold.js").Approval, small: boolean}} props `small`: in the row above the board
 */
export function View({ approval, small }) {
  const { said_node: said, created_at: since, folder, reason, kind, may } = approval;
  return html`
    <div class=${said ? "need-asks amber" : "need-asks"}><bdi>${whoAsks(approval)}</bdi></div>
    <${Command} key=${approval.id} approval=${approval} />
    <div class="need-aside">
      ${reason && html`<div><span class="faint">${t("needs.because")}</span>${" "}
        <${Text} value=${reasonOf(approval)} lines=${3} /></div>`}
      ${folder && html`<div><span class="faint">${t("needs.in_folder")}</span>${" "}
        <bdi class="mono">${folder}</bdi></div>`}
      ${may.length > 0 && html`<div class="faint">${t("needs.waiting_for")} <${Ago} at=${since} /></div>`}
      ${kind === "prompt" && html`<div class="faint">${t("needs.at_client")}</div>`}
    </div>
    ${!small && html`<${Lately} key=${approval.id} approval=${approval} />`}`;
}

/** Who wants to run what, and where; where no machine asks but somebody's own program, that it is only said. */
function whoAsks({ who, tool, node, said_node: said }) {
  if (!said) return t("needs.asks", { who, tool, node });
  return t(who === HUB ? "needs.asks_own" : "needs.asks_beside", { who, tool, node: said });
}

/**
 * The reasons that machines give most, in the language of the page; others in the machine's own words.
 * @type {[RegExp, string][]}
 */
const REASONS = [
  [/^it changes files$/, "needs.reason_changes"],
  [/^no rule is about this call of (?<tool>.+)$/, "needs.reason_no_rule"],
  [/^it reaches outside the folders that agents work in$/, "needs.reason_outside"],
  [/^it reads or changes a file that may hold secrets$/, "needs.reason_secret"],
  [/^it reads a folder with a file that may hold secrets$/, "needs.reason_secret_within"],
  [/^it reads all files in a folder$/, "needs.reason_all_files"],
  [/^it reads more files than can be looked at$/, "needs.reason_many_files"],
  [/^it dumps the environment$/, "needs.reason_environment"],
  [/^only running it tells which files it uses$/, "needs.reason_files_unknown"],
  [/^only running it tells which folder it runs in$/, "needs.reason_folder_unknown"],
  [/^it leads to (?<where>.+), in a private network$/, "needs.reason_private"],
  [/^the rule (?<rule>.+) has it asked about$/, "needs.reason_rule"],
  [/^only running it tells whether the rule (?<rule>.+) is about it$/, "needs.reason_rule_unknown"],
  [/^no reason was given$/, "needs.reason_none"],
  [/^(?<client>.+) asks at its own prompt$/, "needs.reason_prompt"],
  [/^(?<client>.+) asks at its own prompt; the agent says: (?<why>[^]+)$/, "needs.reason_prompt_why"],
];

/** Why people are asked. */
function reasonOf({ reason, dangerous }) {
  for (const [said, words] of REASONS) {
    const found = said.exec(reason);
    if (found) return t(words, found.groups);
  }
  return dangerous ? t("needs.reason_floor", { said: reason }) : reason;
}

/** Every line of what is asked for; what is too long for a card is fetched on request. */
function Command({ approval: { id, shown: beginning } }) {
  const [whole, setWhole] = useState(null);
  const look = () => read.approval(id).then(({ approval }) => setWhole(approval.shown),
    () => toast(t("errors.not_loaded"), { kind: "away" }));
  return html`
    <pre class="need-command" tabindex="0"><bdi class="mono">${whole ?? beginning}</bdi></pre>
    ${whole === null && beginning.endsWith("…") && html`
      <${Button} small kind="quiet" icon="chevron-down" onClick=${look}>${t("needs.whole")}<//>`}`;
}

/** What the same caller asked before, for who wants to see that before they answer. */
function Lately({ approval: { id } }) {
  const [found, setFound] = useState(null);
  const look = () => read.approval(id).then(({ lately }) => setFound(lately),
    () => toast(t("errors.not_loaded"), { kind: "away" }));
  if (found === null) return html`<${Button} small kind="quiet" icon="clock" onClick=${look}>${t("needs.lately")}<//>`;
  if (!found.length) return html`<div class="faint">${t("needs.lately_nothing")}</div>`;
  return html`
    <ul class="need-lately" aria-label=${t("needs.lately")}>
      ${found.map((each) => html`<li key=${each.id}>
        <${Ago} at=${each.created_at} /> ${t(`needs.was_${each.status}`)} <bdi>${each.tool}</bdi>
        <span class="mono"> <${Text} value=${each.shown} lines=${1} /></span>
      </li>`)}
    </ul>`;
}

