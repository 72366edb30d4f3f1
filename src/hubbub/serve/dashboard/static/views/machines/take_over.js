// Taking over: one command after the other on a machine, by a person, as far as the machine's own gate lets them. Each
// is in the audit log, with the name of who typed it.
import { html, useEffect, useRef, useState } from "../../vendor/ui.js";
import { t } from "../../words.js";
import { attempt } from "../../hub/actions.js";
import { may } from "../../model/moment.js";
import { Button, IconButton } from "../../ui/button.js";
import { plain } from "./ansi.js";

const MOST_RUNS = 50;
const MOST_SHOWN = 20_000; // characters of one output

/** What came of a command, in words where it did not simply end well. */
function outcomeOf({ refused, status, exit_code: code }) {
  if (refused) return refused;
  if (status === "running") return t("machines.run_running");
  if (status === "timeout") return t("machines.run_timeout");
  return code === 0 ? "" : t("machines.exit_code", { code });
}

function Run({ run }) {
  const said = run.answer ? outcomeOf(run.answer) : t("machines.waiting");
  const output = run.answer && [run.answer.stdout, run.answer.stderr].filter(Boolean).join("\n");
  return html`<div class="take-over-run"><code class="asked">$ ${run.command}</code>
    ${output && html`<pre><bdi>${plain(output).slice(0, MOST_SHOWN)}</bdi></pre>`}
    ${said && html`<p class="small muted" role="status">${said}</p>`}</div>`;
}

async function ran(node, command) {
  try {
    return await attempt("run", { machine: node, command });
  } catch (error) {
    if (error.name !== "Refused") throw error;
    return { refused: error.message };
  }
}

export function View({ node, onClose }) {
  const [runs, setRuns] = useState([]);
  const [command, setCommand] = useState("");
  const input = useRef(null);
  useEffect(() => input.current?.focus(), []);
  const isBusy = runs.some((run) => !run.answer);
  const run = async (event) => {
    event.preventDefault();
    const started = { key: Date.now(), command };
    setRuns((before) => [...before, started].slice(-MOST_RUNS));
    setCommand("");
    const answer = await ran(node, started.command);
    setRuns((before) => before.map((each) => (each === started ? { ...started, answer } : each)));
  };
  return html`<div class="take-over">
    <div class="row"><span class="small grow">${t("machines.taken", { name: node })}</span>
      <${IconButton} kind="quiet" small icon="x" label=${t("machines.hand_back")} onClick=${onClose} /></div>
    ${runs.map((each) => html`<${Run} key=${each.key} run=${each} />`)}
    <form class="row" onSubmit=${run}>
      <input ref=${input} class="input mono grow" required aria-label=${t("machines.command")}
        placeholder=${t("machines.command")} autocomplete="off" spellcheck=${false} value=${command}
        onInput=${(event) => setCommand(event.target.value)} />
      <${Button} kind="primary" type="submit" disabled=${isBusy || !may.value.write}>
        ${t("machines.run_now")}<//>
    </form></div>`;
}
