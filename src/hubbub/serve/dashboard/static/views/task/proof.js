// What was seen of the work on a task, under what its holder says: what it asks for, how each of that stands, who let
// it pass, and the steps that hooks told of. What nobody saw is called so, and never passed.

import { html, useEffect } from "../../vendor/ui.js";
import { could, moment } from "../../model/store.js";
import { read } from "../../hub/endpoints.js";
import { t } from "../../i18n.js";
import { ask } from "../../shell/dialogs.js";
import { Button, Icon } from "../../ui/controls.js";
import { Clock, Text } from "../../ui/text.js";
import { done, Fetched, useFetched } from "../fetching.js";
import { refOf } from "./actions.js";
import { said } from "./why.js";

const LOOK_AGAIN = 3_000; // ms; a step that a hook tells is no event
const MOST_STEPS = 20; // the last

/** Each verdict by its word, its icon and the state whose colour it has. */
const VERDICTS = {
  met: ["met", "circle-check", "done"],
  missing: ["missing", "circle-x", "failed"],
  "not seen": ["not_seen", "circle-help", "queued"],
};

/** @param {{task: object, at: any}} props  `at`: read again when this is another */
export function Proof({ task, at }) {
  const fetched = useFetched(() => read.proof(task.id), [at]);
  const isUnderWay = Boolean(task.assignee) && !task.ended_at;
  useEffect(() => {
    if (!isUnderWay) return undefined;
    const timer = setInterval(() => document.hidden || fetched.again(), LOOK_AGAIN);
    return () => clearInterval(timer);
  }, [isUnderWay]);
  if (fetched.value && isOfNoUse(fetched.value)) return null;
  return html`
    <section class="inspector-part" aria-label=${t("proof.title")}>
      <h3>${t("proof.title")}${fetched.value && html` <small>${summary(fetched.value)}</small>`}</h3>
      <${Fetched} of=${fetched}>${(proof) => html`<${Evidence} task=${task} proof=${proof} />`}<//>
    </section>`;
}

/** Whether a task asks for nothing, and nothing was seen of it. */
const isOfNoUse = ({ findings, contract, sightings }) =>
  findings.length === 0 && contract.waived_by === null && sightings.length === 0;

function summary({ findings }) {
  if (findings.length === 0) return t("proof.asks_nothing");
  const met = findings.filter(({ verdict }) => verdict === "met").length;
  return t("proof.met_of", { met, count: findings.length });
}

function Evidence({ task, proof }) {
  const { contract, findings, sightings, is_proven: isProven } = proof;
  const mayWaive = could.value.write && !task.ended_at && findings.length > 0 && !isProven && !contract.waived_by;
  return html`
    <ul class="findings" aria-label=${t("proof.findings")}>
      ${findings.map((finding) => html`<${Finding} key=${finding.demand} finding=${finding} />`)}</ul>
    ${contract.waived_by && html`<${Waiver} contract=${contract} />`}
    ${mayWaive && html`<p><${Button} small disabled=${Boolean(moment.value)} onClick=${() => waive(task)}>
      ${t("proof.waive")}<//></p>`}
    ${sightings.length > 0 && html`<${Steps} sightings=${sightings} />`}`;
}

function Finding({ finding }) {
  const [word, icon, state] = VERDICTS[finding.verdict];
  const means = said(finding.words);
  const why = finding.reason ? said(finding.reason) : finding.why;
  return html`
    <li data-state=${state}>
      <span class="event-icon"><${Icon} name=${icon} size=${15} /></span>
      <span class="grow"><span class="strong">${t("proof.so", { word: t(`proof.${word}`) })}</span><${Text}
        value=${means} />${finding.why && html`<span class="muted"><${Text}
        value=${t("proof.because", { why })} /></span>`}</span>
    </li>`;
}

function Waiver({ contract }) {
  return html`<p class="amber waiver"><${Icon} name="shield-alert" size=${14} />
    ${" "}<bdi class="strong">${contract.waived_by}</bdi> ${t("proof.waived")}
    ${contract.waived_why && html`: <${Text} value=${contract.waived_why} />`}
    ${" "}<span class="faint"><${Clock} at=${contract.waived_at} /></span></p>`;
}

async function waive(task) {
  const words = { ref: refOf(task) };
  const reason = await ask({
    title: t("proof.waive_title", words), label: t("proof.waive_label"), action: t("proof.waive"),
  });
  if (reason !== null) await done("waive", { task: task.id, reason }, t("proof.waive_done", words));
}

/** The last steps that hooks told of, the latest first. */
function Steps({ sightings }) {
  const latest = sightings.slice(-MOST_STEPS).toReversed();
  return html`<details class="form-more"><summary>${t("proof.steps", { count: sightings.length })}</summary>
    <ol class="findings">${latest.map((each) => html`<${Step} key=${`${each.at} ${each.command ?? each.paths}`}
      sighting=${each} />`)}</ol></details>`;
}

function Step({ sighting }) {
  const { at, deed, command, code, paths } = sighting;
  const what = command ? html`<code><bdi>${command}</bdi></code>` : html`<bdi>${paths.join(", ")}</bdi>`;
  return html`
    <li>
      <span class="grow text">${t(`proof.deed_${deed}`)} ${what}
        ${deed === "shell" && html` <span class="muted">${code === null ? t("proof.ended_unseen")
          : t("proof.ended", { code })}</span>`}</span>
      <span class="mono faint meta"><${Clock} at=${at} /></span>
    </li>`;
}
