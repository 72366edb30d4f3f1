// hubbub inside opencode: claims files before they are edited, tells of mail after a tool, and wakes the conversation
// that is open when mail comes, and brings its permission prompts to the people of the hub, beside opencode's own.
// Whatever goes wrong here, opencode goes on as if there were no hub.
import { spawn, type ChildProcess } from "node:child_process"

const HOOK = ["hubbub-hook"]
const PATIENCE = 4000 // milliseconds; the hook itself gives up long before
const AGAIN = 30000 // milliseconds until a monitor that ended is started anew
const LATELY = 100 // calls of tools that are remembered, for the prompts that come of them

type Told = Record<string, unknown>

type Answer = { deny?: string; grant?: boolean; text?: string }

function ask(moment: string, told: Told, began?: (hook: ChildProcess) => void): Promise<Answer> {
  return new Promise((resolve) => {
    let said = ""
    const hook = spawn(HOOK[0], [...HOOK.slice(1), "opencode", moment], { stdio: ["pipe", "pipe", "ignore"] })
    const timer = began ? undefined : setTimeout(() => hook.kill(), PATIENCE)
    began?.(hook)
    const done = () => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(said))
      } catch {
        resolve({})
      }
    }
    hook.on("error", done)
    hook.on("close", done)
    hook.stdin.on("error", () => {})
    hook.stdout.on("data", (part) => (said += part))
    hook.stdin.end(JSON.stringify(told))
  })
}

export const Hubbub = async ({ client, directory }: any) => {
  const instance = `opencode-${process.pid}`
  let open: string | undefined // the conversation that was used last

  const facts = (tool: string, args: any): Told => ({
    instance,
    cwd: directory,
    tool,
    path: args?.filePath,
    patch: args?.patchText,
    command: args?.command,
  })

  const calls = new Map<string, { tool: string; args: any }>() // by their id, the newest last
  const prompts = new Map<string, { session: string; hook: ChildProcess }>() // what waits for an answer, by its id

  function remember(id: string, tool: string, args: any) {
    calls.set(id, { tool, args })
    if (calls.size > LATELY) calls.delete(calls.keys().next().value!)
  }

  // Ask the people of the hub what opencode asks at its own prompt: the first answer counts.
  async function prompt(asked: any) {
    const call = calls.get(asked.tool?.callID)
    const more = call?.tool === asked.permission ? {} : { permission: asked.permission, patterns: asked.patterns }
    const given = { ...(call?.args ?? asked.metadata), ...more }
    const tool = call?.tool ?? asked.permission
    const told = { ...facts(tool, given), tool_name: tool, tool_input: given }
    const answer = await ask("ask", told, (hook) => prompts.set(asked.id, { session: asked.sessionID, hook }))
    if (!prompts.delete(asked.id) || !(answer.grant || answer.deny)) return
    await client.postSessionIdPermissionsPermissionId({
      path: { id: asked.sessionID, permissionID: asked.id },
      body: { response: answer.grant ? "once" : "reject" },
    })
  }

  // Somebody has answered at opencode's own prompt, or ended the turn: the question at the hub is withdrawn.
  function withdraw(is: (id: string, session: string) => boolean) {
    for (const [id, { session, hook }] of prompts) {
      if (is(id, session) && prompts.delete(id)) hook.kill()
    }
  }

  async function wake(text: string) {
    if (!open) {
      open = (await client.session.create({ body: {} })).data?.id
      if (!open) return
      const properties = { sessionID: open }
      await client.tui.publish({ body: { type: "tui.session.select", properties } })
    }
    await client.session.promptAsync({ path: { id: open }, body: { parts: [{ type: "text", text }] } })
  }

  function listen() {
    const monitor = spawn(HOOK[0], [...HOOK.slice(1), "opencode", "monitor", instance], {
      cwd: directory,
      stdio: ["ignore", "pipe", "ignore"],
    })
    let rest = ""
    monitor.stdout.on("data", (part) => {
      const lines = (rest + part).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) wake(line).catch(() => {})
    })
    monitor.on("error", () => {})
    monitor.on("close", () => setTimeout(listen, AGAIN).unref())
    monitor.unref()
  }

  if (!(globalThis as any).hubbubListens) {
    ;(globalThis as any).hubbubListens = true
    listen()
  }

  return {
    event: async ({ event }: any) => {
      const told = event.properties ?? {}
      if (event.type === "permission.asked") prompt(told).catch(() => {})
      if (event.type === "permission.replied") withdraw((id) => id === (told.requestID ?? told.permissionID))
      if (event.type === "session.idle") withdraw((_, session) => session === told.sessionID)
      if (event.type === "session.deleted" && (told.info?.id ?? told.sessionID) === open) open = undefined
      if (event.type === "tui.session.select") open = told.sessionID
      if (event.type === "session.created" && !told.info?.parentID) open = told.info?.id ?? told.sessionID
    },
    "chat.message": async (input: any) => {
      const found = await client.session.get({ path: { id: input.sessionID } })
      if (!found.data?.parentID) open = input.sessionID
    },
    "tool.execute.before": async (input: any, output: any) => {
      remember(input.callID, input.tool, output.args)
      const answer = await ask("before", facts(input.tool, output.args))
      if (answer.deny) throw new Error(answer.deny)
    },
    "tool.execute.after": async (input: any, output: any) => {
      calls.delete(input.callID)
      const answer = await ask("after", { ...facts(input.tool, input.args), code: output.metadata?.exit })
      if (answer.text && typeof output.output === "string") output.output += `\n\n${answer.text}`
    },
  }
}
