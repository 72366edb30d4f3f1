// Connect, list the tools, call one, read a resource; with the TypeScript SDK of the given age, in the given mode.
const [age, mode, url, token] = process.argv.slice(2);

const sdk =
  age === "1"
    ? {
        ...(await import("@modelcontextprotocol/sdk/client/index.js")),
        ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
      }
    : await import("@modelcontextprotocol/client");

const client = new sdk.Client({ name: "walk", version: "1" }, { versionNegotiation: { mode } });
const headers = { Authorization: `Bearer ${token}` };
await client.connect(new sdk.StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
const { tools } = await client.listTools();
const answer = await client.callTool({ name: "get_all_status", arguments: {} });
const { contents } = await client.readResource({ uri: "hubbub://agents" });
await client.close();

console.log(
  JSON.stringify({
    tools: tools.length,
    ok: answer.structuredContent.ok,
    agents: JSON.parse(contents[0].text).length,
  }),
);
