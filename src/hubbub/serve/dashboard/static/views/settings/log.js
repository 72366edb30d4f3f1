// The log: how far back it goes, how long it is kept, and how to keep a copy of everything.
import { html } from "../../vendor/ui.js";
import { fullTime, number, t } from "../../words.js";
import { link, read } from "../../hub/reads.js";
import { connection } from "../../hub/live.js";
import { me } from "../../model/moment.js";
import { Button } from "../../ui/button.js";
import { Command } from "../../ui/empty.js";
import { Fetched, useFetched } from "../fetched.js";
import { OnlyFor, Part } from "./parts.js";

async function factsOfLog() {
  const [{ activity }, { log }] = await Promise.all([read.activity({ after: 0, limit: 1 }), read.status()]);
  return { oldest: activity[0], log };
}

export function Log() {
  const fetched = useFetched(factsOfLog, []);
  return html`<${Part} title=${t("settings.tab_log")} text=${t("settings.log_text")}>
      <${Fetched} of=${fetched}>${({ oldest, log }) => html`<dl class="facts">
        <dt>${t("settings.log_first")}</dt><dd>${oldest ? fullTime(oldest.at) : t("settings.nothing")}</dd>
        <dt>${t("settings.log_last")}</dt><dd class="num">${number(connection.value.id)}</dd>
        <dt>${t("settings.log_size")}</dt><dd>${t("settings.log_events", { count: log.activities })}</dd>
        <dt>${t("settings.log_kept")}</dt><dd>${log.keep_days === null ? t("settings.log_forever")
          : t("settings.log_days", { count: log.keep_days })}</dd></dl>`}<//>
    <//>
    <${Part} title=${t("settings.retention")} text=${t("settings.retention_text")}>
      <${Command} text="HUBBUB_KEEP_LOG_DAYS=90 hubbub serve" /><//>
    <${Part} title=${t("settings.backup")} text=${t("settings.backup_text")}>
      <${Command} text="hubbub backup hubbub-copy.db" />
      ${me.value?.owns_hub ? html`<div>
        <${Button} icon="download" href=${link.backup()} download>${t("settings.backup_now")}<//></div>`
        : html`<${OnlyFor} whom="owner" />`}<//>`;
}
