// What runs on a machine, as text: reading the output of an agent there, and taking over, command by command.

import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/ui.js";
import { may } from "../model/store.js";
import { attempt, sentence } from "../hub/actions.js";
import { link } from "../hub/endpoints.js";
import { t } from "../i18n.js";
import { Button, IconButton } from "../ui/controls.js";
import { Clock } from "../ui/text.js";

// What a program wrote for a terminal, as plain text: colours, cursor moves and other control characters are gone.

const COMMAND = /\[[0-?]*[ -/]*[@-~]/; // colours, moves
const TITLE = /\][^\x07\x1b]*(?:\x07|\x1b\\)?/;
const STRING = /[PX^_][^\x1b]*(?:\x1b\\)?/;
const OTHER = /[ -/]*[0-~]?/;
const AFTER_ESCAPE = [COMMAND, TITLE, STRING, OTHER].map(({ source }) => source).join("|");
const SEQUENCE = new RegExp(`\\x1b(?:${AFTER_ESCAPE})`, "g");
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** @param {string} text */
export const plain = (text) => text.replace(SEQUENCE, "").replace(CONTROL, "");

// Taking over: one command after the other on a machine, by a person, as far as the machine's own gate lets them. Each
// is in the audit log, with the name of who typed it.

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
    return { refused: sentence(error) };
  }
}

export function TakeOver({ node, onClose }) {
  const [runs, setRuns] = useState([]);
  const [command, setCommand] = useState("");
  const input = useRef(null);
  useLayoutEffect(() => input.current?.focus(), []);
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

// The read-only terminal of an agent that was placed on a machine: its last lines, and new ones as they come.

const LINES_BEFORE = 500; // that it had said when one begins to look
const MOST_LINES = 2000;
const MOST_CHARACTERS = 4000; // of one line
const NEAR_THE_END = 40; // pixels

/** Follow what an agent says. Lines come in groups of a frame; what comes again after a break is dropped. */
function useLines(agent, isPaused) {
  const [lines, setLines] = useState([]);
  const [end, setEnd] = useState(null);
  const held = useRef([]);
  const paused = useRef(isPaused);
  paused.current = isPaused;
  const flush = () => {
    if (paused.current || !held.current.length) return;
    const come = held.current.splice(0);
    setLines((before) => {
      const last = before.at(-1)?.id ?? -1;
      return [...before, ...come.filter(({ id }) => id > last)].slice(-MOST_LINES);
    });
  };
  useEffect(() => {
    const stream = new EventSource(link.output(agent, { follow: true, lines: LINES_BEFORE }));
    let frame = 0;
    stream.onmessage = ({ data }) => {
      const line = JSON.parse(data);
      held.current.push({ ...line, text: plain(line.text).slice(0, MOST_CHARACTERS) });
      if (held.current.length > MOST_LINES) held.current.shift();
      frame ||= requestAnimationFrame(() => { frame = 0; flush(); });
    };
    stream.addEventListener("end", ({ data }) => { stream.close(); setEnd(JSON.parse(data).message); });
    stream.onerror = () => stream.readyState === EventSource.CLOSED && setEnd(t("machines.terminal_refused"));
    stream.onopen = () => setEnd(null);
    return () => { cancelAnimationFrame(frame); stream.close(); };
  }, [agent]);
  useEffect(flush, [isPaused]);
  return { lines, end };
}

/** One line; what was looked for in it is marked. */
function Line({ line, found }) {
  const at = found ? line.text.toLowerCase().indexOf(found) : -1;
  return html`<div class="terminal-line"><span class="faint"><${Clock} at=${line.at} /></span>
    <bdi>${at < 0 ? line.text : marked(line.text, at, at + found.length)}</bdi></div>`;
}

const marked = (text, from, to) =>
  html`${text.slice(0, from)}<mark>${text.slice(from, to)}</mark>${text.slice(to)}`;

/** Keep the end in sight, unless somebody has scrolled up to read. */
function useEndInSight(box, lines) {
  const isAtEnd = useRef(true);
  useEffect(() => {
    if (isAtEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  return () => {
    const { scrollHeight, scrollTop, clientHeight } = box.current;
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_THE_END;
  };
}

export function Terminal({ agent, onClose }) {
  const [isPaused, setIsPaused] = useState(false);
  const [find, setFind] = useState("");
  const { lines, end } = useLines(agent, isPaused);
  const box = useRef(null);
  const onScroll = useEndInSight(box, lines);
  const found = find.toLowerCase();
  const count = useMemo(() => lines.filter(({ text }) => text.toLowerCase().includes(found)).length, [lines, found]);
  return html`<div class="view terminal-view">
    <div class="view-head">
      <${IconButton} kind="quiet" icon="arrow-left" label=${t("machines.back")} onClick=${onClose} />
      <h2 class="clip"><bdi>${agent}</bdi></h2><span class="small muted grow">${t("machines.read_only")}</span>
      <input class="input find" type="search" placeholder=${t("machines.find")} aria-label=${t("machines.find")}
        value=${find} onInput=${(event) => setFind(event.target.value)} />
      ${found && html`<span class="small muted num" role="status">${t("machines.found", { count })}</span>`}
      <${Button} icon=${isPaused ? "play" : "pause"} pressed=${isPaused}
        onClick=${() => setIsPaused(!isPaused)}>${t(isPaused ? "machines.resume" : "machines.pause")}<//>
    </div>
    <div class="terminal" ref=${box} onScroll=${onScroll} tabindex="0" role="log" aria-live="off"
      aria-label=${t("machines.terminal_of", { name: agent })}>
      ${lines.map((line) => html`<${Line} key=${line.id} line=${line} found=${found} />`)}
      ${!lines.length && !end && html`<p class="muted">${t("machines.silent")}</p>`}
      ${end && html`<p class="muted" role="status"><bdi>${end}</bdi></p>`}
    </div></div>`;
}
