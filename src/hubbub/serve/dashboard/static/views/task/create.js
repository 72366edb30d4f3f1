// Giving somebody work: a text, and what else is known of it.

import { html, useEffect, useState } from "../../vendor/ui.js";
import { act } from "../../hub/actions.js";
import { read } from "../../hub/reads.js";
import { project, shown } from "../../model/moment.js";
import { set } from "../../shell/router.js";
import { toast } from "../../ui/toasts.js";
import { Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";
import { Field, Select, TextArea } from "../../ui/field.js";
import { written } from "../../ui/key.js";
import { t } from "../../words.js";
import { refOf } from "./names.js";
import { agentOptions } from "./reassign.js";

const PRIORITIES = ["critical", "high", "medium", "low"];
const EMPTY = { title: "", text: "", to: "", priority: "medium", area: "", depends_on: "", parent_id: "", issue: "" };

/** @param {{onClose: () => void, given?: object}} props `given`: what is filled in already */
export function CreateTask({ onClose, given = {} }) {
  const [task, setTask] = useState({ ...EMPTY, ...given });
  const [busy, setBusy] = useState(false);
  const areas = useAreas();
  const put = (name) => ({
    name, value: task[name], onInput: ({ target }) => setTask((before) => ({ ...before, [name]: target.value })),
  });
  const ready = task.title.trim() !== "" && !busy;
  const submit = async () => {
    if (!ready) return;
    setBusy(true);
    const answer = await act("createTask", toSend(task));
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
