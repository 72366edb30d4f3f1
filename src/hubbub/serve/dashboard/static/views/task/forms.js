// What is asked when a person gives somebody work, hands it to somebody else, or answers who is at it.

import { html, useEffect, useState } from "../../vendor/ui.js";
import { isQueueServed, tasksOf } from "../../model/states.js";
import { project, shown } from "../../model/store.js";
import { read } from "../../hub/endpoints.js";
import { t } from "../../i18n.js";
import { set } from "../../shell/router.js";
import { Button } from "../../ui/controls.js";
import { Dialog } from "../../ui/dialog.js";
import { Checkbox, Field, Select, TextArea, written } from "../../ui/form.js";
import { stateWord } from "../../ui/marks.js";
import { toast } from "../../ui/overlays.js";
import { Text } from "../../ui/text.js";
import { refOf } from "./actions.js";
import { makeTask } from "./making.js";

// Who is to do a task: anybody that the project knows, those who are there first.

const RANK = ["idle", "working", "waiting", "blocked", "error", "offline", "stale"];

/** @param {{tasks: object[], onSay: (said: {to: string}) => void, onClose: () => void}} props */
export function Reassign({ tasks, onSay, onClose }) {
  const isFirst = tasks.every(({ assignee }) => !assignee);
  const options = agentOptions(shown.value, tasks.length === 1 ? tasks[0].assignee : null);
  const [to, setTo] = useState(isFirst ? "" : options[0]?.value ?? "");
  const words = { count: tasks.length, ref: refOf(tasks[0]) };
  const footer = html`
    <${Button} kind="primary" type="submit" disabled=${!to}>
      ${t(isFirst ? "inspector.assign" : "inspector.reassign")}<//>`;
  return html`
    <${Dialog} title=${t("inspector.reassign_title", words)} onClose=${onClose} footer=${footer}
      onSubmit=${() => to && onSay({ to })}>
      ${options.length
        ? html`<${Select} label=${t("inspector.reassign_label")} value=${to}
            options=${isFirst ? [{ value: "", label: t("inspector.assign_choose") }, ...options] : options}
            hint=${t(isFirst ? "inspector.assign_hint" : "inspector.reassign_hint")}
            onInput=${(event) => setTo(event.currentTarget.value)} />`
        : html`<p>${t("inspector.reassign_nobody")}</p>`}
    <//>`;
}

/** The agents of a picture, for a field: who is free first, who is gone last, with how they are. */
function agentOptions(picture, except = null) {
  return [...picture.agents.values()]
    .filter((agent) => agent.name !== except)
    .map((agent) => ({ agent, state: agent.state, busy: tasksOf(agent.name, picture).length }))
    .sort((a, b) => RANK.indexOf(a.state) - RANK.indexOf(b.state) || a.busy - b.busy
      || a.agent.name.localeCompare(b.agent.name))
    .map(({ agent, state, busy }) => ({
      value: agent.name,
      label: [agent.name, stateWord(state, true), busy ? t("inspector.open_tasks", { count: busy }) : null]
        .filter(Boolean).join(" · "),
    }));
}

// Saying something to whoever works on a task; and, if it is blocked, that it may go on.

/** @param {{task: object, onSay: (said: {text: string, goOn: boolean}) => void, onClose: () => void}} props */
export function Answer({ task, onSay, onClose }) {
  const blocked = task.may.includes("unblock");
  const [text, setText] = useState("");
  const [goOn, setGoOn] = useState(blocked);
  const ready = text.trim() !== "";
  const submit = () => ready && onSay({ text: text.trim(), goOn });
  const footer = html`
    <${Button} kind="primary" type="submit" disabled=${!ready} keyHint=${written("mod+Enter")}>
      ${t("inspector.answer")}<//>`;
  return html`
    <${Dialog} title=${t("inspector.answer_title", { ref: refOf(task) })} onClose=${onClose} onSubmit=${submit}
      footer=${footer}>
      <p class="strong"><${Text} value=${task.title} lines=${2} /></p>
      ${task.note && html`<blockquote class="said"><bdi class="faint small">${task.assignee}</bdi>
        <${Text} value=${task.note} lines=${6} /></blockquote>`}
      <${TextArea} label=${t("inspector.answer_label")} value=${text} rows="4" required
        onInput=${(event) => setText(event.currentTarget.value)} />
      ${blocked && html`<${Checkbox} label=${t("inspector.go_on")} checked=${goOn}
        onChange=${(event) => setGoOn(event.currentTarget.checked)} />`}
    <//>`;
}

// Changing a task: what is to be done, and who is to do it. Its title and its priority stay.

/** @param {{task: object, onSay: (said: {text?: string, to?: string}) => void, onClose: () => void}} props */
export function Edit({ task, onSay, onClose }) {
  const [before, setBefore] = useState(null);
  useEffect(() => {
    const fail = () => (toast(t("errors.not_loaded"), { kind: "away" }), onClose());
    read.task(task.id).then(({ task: whole }) => setBefore(whole.description ?? ""), fail);
  }, []);
  return before !== null && html`<${Editing} task=${task} before=${before} onSay=${onSay} onClose=${onClose} />`;
}

function Editing({ task, before, onSay, onClose }) {
  const [text, setText] = useState(before);
  const [to, setTo] = useState(task.assignee ?? "");
  const needsText = before !== "";
  const nobody = task.assignee ? [] : [{ value: "", label: t("inspector.to_anyone") }];
  const submit = () => {
    const said = {
      ...(text.trim() !== before.trim() && { text: text.trim() }), ...(to !== (task.assignee ?? "") && { to }),
    };
    return Object.keys(said).length ? onSay(said) : onClose();
  };
  const footer = html`
    <${Button} kind="primary" type="submit" disabled=${needsText && !text.trim()} keyHint=${written("mod+Enter")}>
      ${t("settings.save")}<//>`;
  return html`
    <${Dialog} title=${t("inspector.edit_title", { ref: refOf(task) })} onClose=${onClose} onSubmit=${submit}
      footer=${footer} wide>
      <p class="strong"><${Text} value=${task.title} lines=${2} /></p>
      <${TextArea} label=${t("inspector.description")} hint=${t("inspector.edit_hint")} rows="8" value=${text}
        required=${needsText} onInput=${(event) => setText(event.currentTarget.value)} />
      ${task.may.includes("reassign") && html`
        <${Select} label=${t("inspector.to")} value=${to} options=${[...nobody, ...agentOptions(shown.value)]}
          onInput=${(event) => setTo(event.currentTarget.value)} />`}
    <//>`;
}

// Giving somebody work: a text, and what else is known of it.

const PRIORITIES = ["critical", "high", "medium", "low"];
const EMPTY = { title: "", text: "", to: "", priority: "medium", area: "", depends_on: "", parent_id: "", issue: "" };

/** @param {{onClose: () => void, given?: object}} props `given`: what is filled in already */
export function CreateTask({ onClose, given = {} }) {
  const [task, setTask] = useState({ ...EMPTY, to: onlyOneThere(shown.value), ...given });
  const [busy, setBusy] = useState(false);
  const areas = useAreas();
  const put = (name) => ({
    name, value: task[name], onInput: ({ target }) => setTask((before) => ({ ...before, [name]: target.value })),
  });
  const ready = task.title.trim() !== "" && !busy;
  const submit = async () => {
    if (!ready) return;
    setBusy(true);
    const answer = await makeTask(toSend(task));
    setBusy(false);
    if (answer) created(answer.task, onClose);
  };
  const footer = html`
    <${Button} kind="primary" type="submit" disabled=${!ready} keyHint=${written("mod+Enter")}>
      ${t("inspector.create")}<//>`;
  return html`
    <${Dialog} title=${t("inspector.create_title")} onClose=${onClose} onSubmit=${submit} footer=${footer}
      draft=${`create:${JSON.stringify(given)}`} wide>
      <${Field} label=${t("inspector.title")} maxlength="200" required ...${put("title")} />
      <${TextArea} label=${t("inspector.text")} hint=${t("inspector.text_hint")} rows="5" ...${put("text")} />
      <div class="form-pair">
        <${Select} label=${t("inspector.to")} ...${put("to")}
          options=${[{ value: "", label: t("inspector.to_anyone") }, ...agentOptions(shown.value)]} />
        <${Select} label=${t("inspector.priority")} ...${put("priority")}
          options=${PRIORITIES.map((value) => ({ value, label: t(`board.priority_${value}`) }))} />
      </div>
      <${More} put=${put} areas=${areas} open=${Object.keys(given).length > 1} />
    <//>`;
}

/** Where only the echo is there, a task in the open queue would stay there. */
function onlyOneThere(picture) {
  return isQueueServed(picture) ? "" : picture.agents.values().find((each) => each.live)?.name ?? "";
}

/** What most tasks do without. */
function More({ put, areas, open }) {
  const choices = [{ value: "", label: t("inspector.no_area") },
    ...areas.map(({ slug, name }) => ({ value: slug, label: name || slug }))];
  return html`
    <details class="form-more" open=${open}>
      <summary>${t("inspector.more_fields")}</summary>
      <div class="stack">
        ${areas.length
          ? html`<${Select} label=${t("inspector.area")} options=${choices} ...${put("area")} />`
          : html`<${Field} label=${t("inspector.area")} maxlength="200" ...${put("area")} />`}
        <${Field} label=${t("inspector.needs")} hint=${t("inspector.needs_hint")} ...${put("depends_on")} />
        <div class="form-pair">
          <${Field} label=${t("inspector.parent")} hint=${t("inspector.parent_hint")} ...${put("parent_id")} />
          <${Field} label=${t("inspector.issue")} hint=${t("inspector.issue_hint")} ...${put("issue")} />
        </div>
      </div>
    </details>`;
}

/** The areas of the project; a task may be in one of them, or, where there are none, in any. */
function useAreas() {
  const [areas, setAreas] = useState([]);
  useEffect(() => {
    read.areas(project.value).then(
      (answer) => setAreas(answer.areas),
      () => setAreas([]),
    );
  }, []);
  return areas;
}

/** What was filled in, as the hub takes it: numbers may be written as people say them, T-12 or #12. */
function toSend({ title, text, depends_on: needs, parent_id: parent, ...others }) {
  const refs = needs.split(/[\s,]+/).map(plainRef).filter(Boolean);
  const filled = Object.entries(others).map(([name, value]) => [name, value.trim()]).filter(([, value]) => value);
  return {
    ...Object.fromEntries(filled),
    title: title.trim(),
    text: text.trim() || title.trim(),
    ...(parent.trim() && { parent_id: plainRef(parent) }),
    ...(refs.length && { depends_on: refs }),
  };
}

const plainRef = (ref) => ref.trim().replace(/^(T-|#)(?=\d+$)/i, "");

function created(task, close) {
  close();
  toast(t("inspector.created", { ref: refOf(task) }));
  set({ task: task.number });
}
