// The log: how far back it goes, how long it is kept, and how to keep a copy of everything.
import { html } from "../../vendor/ui.js";
import { fullTime, number, t } from "../../words.js";
import { address, get } from "../../hub/api.js";
import { connection } from "../../hub/live.js";
import { me } from "../../model/moment.js";
import { Button } from "../../ui/button.js";
import { Command } from "../../ui/empty.js";
import { Fetched, useFetched } from "../fetched.js";
import { OnlyFor, Part } from "./parts.js";

export function Log() {
  const first = useFetched(() => get("/activity", { after: 0, limit: 1 }), []);
  return html`<${Part} title=${t("settings.tab_log")} text=${t("settings.log_text")}>
      <${Fetched} of=${first}>${({ activity: [oldest] }) => html`<dl class="facts">
        <dt>${t("settings.log_first")}</dt><dd>${oldest ? fullTime(oldest.at) : t("settings.nothing")}</dd>
        <dt>${t("settings.log_last")}</dt><dd class="num">${number(connection.value.id)}</dd></dl>`}<//>
    <//>
    <${Part} title=${t("settings.retention")} text=${t("settings.retention_text")}>
      <${Command} text="HUBBUB_KEEP_LOG_DAYS=90 hubbub serve" /><//>
    <${Part} title=${t("settings.backup")} text=${t("settings.backup_text")}>
      <${Command} text="hubbub backup hubbub-copy.db" />
      ${me.value?.owns_hub ? html`<div>
        <${Button} icon="download" href=${address("/backup")} download>${t("settings.backup_now")}<//></div>`
        : html`<${OnlyFor} whom="owner" />`}<//>`;
}
