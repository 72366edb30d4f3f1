// The project: what it is called, what follows where scopes overlap, its areas; and another project beside it.

import { html } from "../../vendor/ui.js";
import { could, may, project, standstill } from "../../model/store.js";
import { read } from "../../hub/endpoints.js";
import { t } from "../../i18n.js";
import { go } from "../../shell/router.js";
import { Button } from "../../ui/controls.js";
import { Dialog } from "../../ui/dialog.js";
import { Empty } from "../../ui/empty.js";
import { Field, Select, TextArea } from "../../ui/form.js";
import { openDialog } from "../../ui/overlays.js";
import { done, Fetched, useFetched } from "../fetching.js";
import { OnlyFor, Part, Rows, useForm } from "./parts.js";

const modes = () => ["off", "warn", "block"].map((value) => ({ value, label: t(`settings.mode_${value}`) }));

function Facts({ known }) {
  const first = {
    name: known.name, description: known.description ?? "",
    conflict_mode: known.conflict_mode, repo_url: known.repo_url ?? "",
  };
  const { given, bind } = useForm(first);
  const off = { disabled: !may.value.manage };
  const keep = (event) => {
    event.preventDefault();
    const changed = Object.entries(given).filter(([key, value]) => value !== first[key]);
    done("changeProject", { project: known.slug, ...Object.fromEntries(changed) }, t("settings.saved"));
  };
  return html`<form class="stack" onSubmit=${keep}>
    <${Field} label=${t("settings.project_name")} required ...${off} ...${bind("name")} />
    <${TextArea} label=${t("settings.description")} rows="2" ...${off} ...${bind("description")} />
    <${Select} label=${t("settings.mode")} hint=${t("settings.mode_hint")} options=${modes()} ...${off}
      ...${bind("conflict_mode")} />
    <${Field} label=${t("settings.repository")} ...${off} ...${bind("repo_url")} />
    ${could.value.manage ? html`<div class="row end">
      <${Button} kind="primary" type="submit" ...${off}>${t("settings.save")}<//></div>`
      : html`<${OnlyFor} whom="managers" />`}
  </form>`;
}

/** An area, new or to be changed; its slug stays. */
function Area({ area, onClose }) {
  const { given, bind } = useForm({
    slug: area?.slug ?? "", name: area?.name ?? "", patterns: (area?.patterns ?? []).join("\n"),
    description: area?.description ?? "",
  });
  const put = async () => {
    const patterns = given.patterns.split("\n").map((line) => line.trim()).filter(Boolean);
    const values = {
      project: project.value, area: given.slug.trim(), name: given.name.trim(), patterns,
      description: given.description || null,
    };
    if (await done("putArea", values, t("settings.saved"))) onClose();
  };
  const title = t(area ? "settings.area_change" : "settings.area_add");
  const footer = html`<${Button} kind="primary" type="submit">${t("settings.save")}<//>`;
  return html`<${Dialog} title=${title} onClose=${onClose} onSubmit=${put} footer=${footer}
    draft=${`area:${area?.slug}`}>
    <div class="stack">
      <${Field} label=${t("settings.slug")} required disabled=${Boolean(area)} pattern="[a-z0-9][a-z0-9_\\-]*"
        ...${bind("slug")} />
      <${Field} label=${t("settings.project_name")} required ...${bind("name")} />
      <${TextArea} label=${t("settings.patterns")} hint=${t("settings.patterns_hint")} rows="4"
        class="input mono" ...${bind("patterns")} />
      <${Field} label=${t("settings.description")} ...${bind("description")} />
    </div><//>`;
}

function Areas() {
  const areas = useFetched(() => read.areas(project.value), [], ["area."]);
  const open = (area) => () => openDialog((close) => html`<${Area} area=${area} onClose=${close} />`);
  const action = could.value.manage && html`<${Button} icon="plus" disabled=${!may.value.manage}
    onClick=${open(null)}>${t("settings.area_add")}<//>`;
  const headings = [t("settings.slug"), t("settings.project_name"), t("settings.patterns"), ""];
  return html`<${Part} title=${t("settings.areas")} text=${t("settings.areas_text")} action=${action}>
    <${Fetched} of=${areas}>${(found) => (found.areas.length === 0
      ? html`<${Empty} icon="map" title=${t("settings.no_areas")} text=${t("settings.areas_text")}
          command=${`hubbub project area ${project.value} api --pattern 'src/api/**'`} />`
      : html`<${Rows} label=${t("settings.areas")} headings=${headings} rows=${found.areas}>
        ${(area) => html`<tr key=${area.slug}>
          <td class="mono clip">${area.slug}</td><td class="clip"><bdi>${area.name}</bdi></td>
          <td class="mono small wrap-any"><bdi>${area.patterns.join("  ")}</bdi></td>
          <td>${could.value.manage && html`<${Button} small disabled=${!may.value.manage}
            onClick=${open(area)}>${t("settings.change")}<//>`}</td>
        </tr>`}<//>`)}<//>
  <//>`;
}

/** Another project: another world of agents, tasks and log. */
function AddProject({ onClose }) {
  const { given, bind } = useForm({ slug: "", name: "", conflict_mode: "warn" });
  const add = async () => {
    const values = { slug: given.slug.trim(), conflict_mode: given.conflict_mode };
    if (given.name.trim()) values.name = given.name.trim();
    if (!await done("addProject", values)) return;
    onClose();
    go("board", { project: values.slug, at: null });
  };
  return html`<${Dialog} title=${t("settings.project_add")} onClose=${onClose} onSubmit=${add}
    footer=${html`<${Button} kind="primary" type="submit">${t("settings.project_add")}<//>`}>
    <div class="stack">
      <${Field} label=${t("settings.slug")} hint=${t("settings.slug_hint")} required ...${bind("slug")} />
      <${Field} label=${t("settings.project_name")} ...${bind("name")} />
      <${Select} label=${t("settings.mode")} hint=${t("settings.mode_hint")} options=${modes()}
        ...${bind("conflict_mode")} />
    </div><//>`;
}

/** Ask what another project is to be called. */
export const addProject = () => openDialog((close) => html`<${AddProject} onClose=${close} />`);

export function Project() {
  const known = useFetched(() => read.project(project.value), [], ["project."]);
  const action = html`<${Button} icon="plus" disabled=${standstill.value !== null}
    onClick=${addProject}>${t("settings.project_add")}<//>`;
  return html`<${Part} title=${project.value} action=${action}>
      <${Fetched} of=${known}>${(found) => html`
        <${Facts} key=${JSON.stringify(found.project)} known=${found.project} />`}<//>
    <//><${Areas} />`;
}
