// What to write where, so that a client finds the hub. Pure.

const json = (value) => JSON.stringify(value, null, 2);

/**
 * Client -> its name and, part by part, where to write what. A place that begins with "settings." is a word.
 * @param {string} url of the MCP server @param {string} token @param {string} dialect
 * @returns {Record<string, {name: string, parts: [string, string][]}>}
 */
export function snippets(url, token, dialect) {
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
