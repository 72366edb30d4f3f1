// Connecting a client: where the hub is, and what to write where. A token stands in it only if it was made just now.

import { html, useState } from "../../vendor/ui.js";
import { could, inProject, install, isGuest, may } from "../../model/store.js";
import { has, t } from "../../i18n.js";
import { Button, Tabs } from "../../ui/controls.js";
import { CopyButton } from "../../ui/empty.js";
import { Select } from "../../ui/form.js";
import { openDialog } from "../../ui/overlays.js";
import { OwnTerminal } from "../own_terminal.js";
import { MakeToken } from "./access.js";
import { Part } from "./parts.js";

// What to write where, so that a client finds the hub. Pure.

const json = (value) => JSON.stringify(value, null, 2);

/**
 * Client -> its name and, part by part, where to write what. A place that begins with "settings." is a word.
 * @param {string} url of the MCP server @param {string} token @param {string} dialect
 * @returns {Record<string, {name: string, parts: [string, string][]}>}
 */
function snippets(url, token, dialect) {
  const headers = { Authorization: `Bearer ${token}` };
  const bearer = `"Authorization: Bearer ${token}"`;
  return {
    claude: { name: "Claude Code", parts: [
      ["settings.in_terminal", `claude mcp add --transport http hubbub ${url} \\\n  --header ${bearer}`]] },
    codex: { name: "Codex", parts: [
      ["~/.codex/config.toml", `[mcp_servers.hubbub]\nurl = "${url}"\nbearer_token_env_var = "HUBBUB_TOKEN"`],
      ["settings.in_terminal", `export HUBBUB_TOKEN=${token}`]] },
    gemini: { name: "Gemini CLI", parts: [
      ["settings.in_terminal", `gemini mcp add --transport http \\\n  --header ${bearer} hubbub ${url}`]] },
    cursor: { name: "Cursor", parts: [
      [".cursor/mcp.json", json({ mcpServers: { hubbub: { url, headers } } })]] },
    opencode: { name: "opencode", parts: [
      ["opencode.json", json({ mcp: { hubbub: { type: "remote", url, headers } } })]] },
    any: { name: "", parts: [
      ["settings.over_http", json({ mcpServers: { hubbub: { type: "http", url, headers } } })],
      ["settings.over_stdio", json({ mcpServers: { hubbub: {
        command: "hubbub", args: ["mcp", dialect],
        env: { HUBBUB_URL: new URL(url).origin, HUBBUB_TOKEN: token },
      } } })]] },
  };
}

const DIALECTS = ["hub", "commhub", "relay", "golemxv", "cmdop"];
const PLACEHOLDER = "ntok_…";

function Snippet({ where, text }) {
  return html`<div class="stack tight">
    <div class="row"><span class="small muted grow">${where}</span><${CopyButton} text=${text} /></div>
    <pre class="snippet" tabindex="0" aria-label=${where}>${text}</pre></div>`;
}

/** What is to be done about the token in the snippet; who may make none asks somebody who may. */
function placing(token) {
  if (token !== PLACEHOLDER) return "settings.token_placed";
  return could.value.write ? "settings.token_place" : "settings.token_ask";
}

export function Connect() {
  const [dialect, setDialect] = useState("hub");
  const [client, setClient] = useState("claude");
  const [token, setToken] = useState(PLACEHOLDER);
  const made = snippets(`${location.origin}/mcp/${dialect}`, token, dialect);
  const keep = ({ secret }) => setToken(secret);
  const make = () => openDialog((close) => html`<${MakeToken} onClose=${close} onMade=${keep} />`);
  const clients = Object.entries(made).map(([id, { name }]) => ({ id, label: name || t("settings.any_client") }));
  const action = could.value.write && html`
    <${Button} icon="key-round" disabled=${!may.value.write} onClick=${make}>${t("settings.token_make")}<//>`;
  return html`${isGuest() && html`<div class="panel part-panel"><${OwnTerminal} /></div>`}
  <${Part} title=${t("settings.install")} text=${t("settings.install_text")}>
    <${Snippet} where=${t("settings.in_terminal")} text=${install()} />
    <p class="small"><a class="link" href="/docs/clients">${t("settings.install_docs")}</a></p>
  <//>
  <${Part} title=${t("settings.connect")} text=${t("settings.connect_text")} action=${action}>
    <${Select} label=${t("settings.dialect")} hint=${t("settings.dialect_hint")} value=${dialect}
      onInput=${(event) => setDialect(event.target.value)}
      options=${DIALECTS.map((value) => ({ value, label: t(`settings.dialect_${value}`) }))} />
    <${Tabs} label=${t("settings.client")} tabs=${clients} current=${client} onChange=${setClient}>
      <div class="stack">${made[client].parts.map(([where, text]) => html`
        <${Snippet} key=${where} where=${has(where) ? t(where) : where} text=${text} />`)}</div><//>
    <p class="small muted">${t(placing(token))}</p>
  <//>
  <${Part} title=${t("settings.addresses")} text=${t("settings.addresses_text")}>
    <ul class="lines">${DIALECTS.map((name) => html`<li key=${name} class="row">
      <code class="grow wrap-any">${`${location.origin}/mcp/${name}`}</code>
      <${CopyButton} text=${`${location.origin}/mcp/${name}`} /></li>`)}</ul><//>
  <${Part} title=${t("settings.any_program")} text=${t("settings.any_program_text")}>
    <${Snippet} where=${t("settings.in_terminal")} text="hubbub work ember --run ./review.sh" /><//>`;
}
