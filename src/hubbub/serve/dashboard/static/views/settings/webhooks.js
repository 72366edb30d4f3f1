// Webhooks and push: addresses that are told what happens, and what became of telling them.

import { html } from "../../vendor/ui.js";
import { could, may } from "../../model/store.js";
import { read } from "../../hub/endpoints.js";
import { t } from "../../i18n.js";
import { confirm } from "../../shell/dialogs.js";
import { Button } from "../../ui/controls.js";
import { Dialog } from "../../ui/dialog.js";
import { Empty } from "../../ui/empty.js";
import { Field, Select } from "../../ui/form.js";
import { openDialog } from "../../ui/overlays.js";
import { Ago } from "../../ui/text.js";
import { done, existed, Fetched, useFetched } from "../fetching.js";
import { OnlyFor, Part, Rows, showOnce, useForm } from "./parts.js";

const LONGEST_ERROR = 300; // characters

const forms = () => ["json", "ntfy"].map((value) => ({ value, label: t(`settings.form_${value}`) }));

function Add({ onClose }) {
  const { given, bind } = useForm({ url: "", form: "json", events: "needs" });
  const add = async () => {
    const events = given.events.split(/[\s,]+/).filter(Boolean);
    const made = await done("addWebhook", { url: given.url.trim(), form: given.form, events });
    if (!made) return;
    onClose();
    if (given.form !== "json") return; // a phone checks no signature
    showOnce(t("settings.webhook_added"), t("settings.webhook_added_text"), made.secret);
  };
  return html`<${Dialog} title=${t("settings.webhook_add")} onClose=${onClose} onSubmit=${add}
    footer=${html`<${Button} kind="primary" type="submit">${t("settings.webhook_add")}<//>`}>
    <div class="stack">
      <${Field} label=${t("settings.address")} type="url" required placeholder="https://" ...${bind("url")} />
      <${Select} label=${t("settings.form")} options=${forms()} ...${bind("form")} />
      <${Field} label=${t("settings.events")} hint=${t("settings.events_hint")} required class="input mono"
        ...${bind("events")} />
    </div><//>`;
}

async function remove(webhook) {
  const isSure = await confirm({
    title: t("settings.webhook_remove_title"), text: t("settings.webhook_remove_text"),
    action: t("settings.remove"), danger: true,
  });
  if (isSure) await done("removeWebhook", { webhook: webhook.id }, t("settings.webhook_removed"));
}

function List() {
  const webhooks = useFetched(() => read.webhooks(), [], ["webhook."]);
  const add = () => openDialog((close) => html`<${Add} onClose=${close} />`);
  const action = html`<${Button} icon="plus" kind="primary" disabled=${!may.value.manage} onClick=${add}>
    ${t("settings.webhook_add")}<//>`;
  const headings = ["address", "form", "events"].map((key) => t(`settings.${key}`));
  return html`<${Part} title=${t("settings.tab_webhooks")} text=${t("settings.webhooks_text")} action=${action}>
    <${Fetched} of=${webhooks}>${(found) => {
      const rows = existed(found.webhooks);
      if (!rows.length) return html`<${Empty} icon="webhook" title=${t("settings.no_webhooks")}
        command="hubbub webhook add https://ntfy.example.org/hub --form ntfy --events needs" />`;
      return html`<${Rows} label=${t("settings.tab_webhooks")} headings=${[...headings, ""]} rows=${rows}>
        ${(webhook) => html`<tr key=${webhook.id}>
          <td class="wrap-any"><bdi>${webhook.url}</bdi></td>
          <td>${t(`settings.form_${webhook.form ?? "json"}`)}</td>
          <td class="mono small wrap-any">${webhook.events.join(", ")}</td>
          <td><${Button} small kind="danger" disabled=${!may.value.manage} onClick=${() => remove(webhook)}>
            ${t("settings.remove")}<//></td>
        </tr>`}<//>`;
    }}<//>
  <//>`;
}

const TONES = { dead: "is-failed", delivered: "is-done" };

function Delivery({ delivery }) {
  const word = delivery.outcome ?? (delivery.attempts ? "again" : "waiting");
  const retry = () => done("retryDelivery", { delivery: delivery.id }, t("settings.delivery_retried"));
  return html`<tr><td class="mono small">${delivery.event ?? delivery.issue ?? delivery.kind}</td>
    <td><span class=${`outcome ${TONES[word] ?? ""}`}>${t(`settings.delivery_${word}`)}</span>
      ${delivery.last_error && html`<div class="small muted wrap-any">
        <bdi>${delivery.last_error.slice(0, LONGEST_ERROR)}</bdi></div>`}</td>
    <td class="num">${delivery.attempts}</td>
    <td><${Ago} at=${delivery.ended_at ?? delivery.created_at} /></td>
    <td>${delivery.outcome === "dead" && html`<${Button} small icon="rotate-ccw" disabled=${!may.value.manage}
      onClick=${retry}>${t("settings.retry")}<//>`}</td>
  </tr>`;
}

function Deliveries() {
  const deliveries = useFetched(() => read.deliveries(), [], ["outbox.", "webhook."]);
  const headings = ["delivery", "delivery_is", "attempts", "when"].map((key) => t(`settings.${key}`));
  return html`<${Part} title=${t("settings.deliveries")}><${Fetched} of=${deliveries}>${(found) => {
    const rows = existed(found.deliveries);
    if (!rows.length) return html`<p class="small muted">${t("settings.no_deliveries")}</p>`;
    return html`<${Rows} label=${t("settings.deliveries")} headings=${[...headings, ""]} rows=${rows}>
      ${(delivery) => html`<${Delivery} key=${delivery.id} delivery=${delivery} />`}<//>`;
  }}<//><//>`;
}

export function View() {
  if (!could.value.manage) {
    return html`<${Part} title=${t("settings.tab_webhooks")} text=${t("settings.webhooks_text")}>
      <${OnlyFor} whom="managers" /><//>`;
  }
  return html`<${List} /><${Deliveries} />`;
}
