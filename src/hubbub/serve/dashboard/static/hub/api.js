// Calls of the hub's REST, by the cookie of the login. Everything the dashboard does goes through here, and anyone
// can do the same with a token. What changes nothing is called again where no answer came.

import { me, project } from "../model/store.js";

// Fetching what may be fetched again: a browser gives up what is under way when its network changes.

const TRIES = 3;
const PAUSE_MS = 300;

/** As `fetch`, tried again where no answer came. Only for what changes nothing. */
export async function fetchWithRetry(address, options = {}) {
  for (let left = TRIES - 1; ; left -= 1) {
    try {
      return await fetch(address, options);
    } catch (error) {
      if (left === 0 || error.name === "AbortError") throw error;
      await new Promise((done) => setTimeout(done, PAUSE_MS));
    }
  }
}

// Calls of the hub's REST, by the cookie of the login. Everything the dashboard does goes through here, and anyone
// can do the same with a token.

const ROOT = "/api/v1";

/** The hub said no, in one sentence; with status 0 it was not there to say anything. */
export class Refused extends Error {
  constructor(status, code, message) {
    super(message);
    this.name = "Refused";
    this.status = status;
    this.code = code;
  }
}

export const get = (path, query = {}) => call("GET", path, { query });
export const post = (path, body = {}, options = {}) => call("POST", path, { ...options, body });
export const put = (path, body = {}, options = {}) => call("PUT", path, { ...options, body });
export const patch = (path, body = {}, options = {}) => call("PATCH", path, { ...options, body });
export const del = (path, query = {}, options = {}) => call("DELETE", path, { ...options, query });

/** The path of these parts: those that begin with a slash as they are, others may be any text. */
export const at = (...parts) =>
  parts.map((part) => (part.startsWith("/") ? part : `/${encodeURIComponent(part)}`)).join("");

/** The address of a path of REST in the project that is shown, for links and streams. */
export function address(path, query = {}) {
  const search = new URLSearchParams();
  if (project.value) search.set("project", project.value);
  for (const [key, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null && each !== undefined) search.append(key, String(each));
    }
  }
  const text = search.toString();
  return (path.startsWith("/events") ? path : ROOT + path) + (text && `?${text}`);
}

/**
 * Call the hub. Throws Refused.
 * @param {string} method
 * @param {string} path  below /api/v1
 * @param {{query?: object, body?: object, key?: string, attempt?: number, signal?: AbortSignal}} options
 *   `key`: the same call again under the same key has no second effect; `attempt`: how often it was made
 */
async function call(method, path, { query, body, key, attempt, signal }) {
  const headers = { Accept: "application/json" };
  if (method !== "GET") headers["X-CSRF-Token"] = me.value?.csrf ?? "";
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  if (attempt) headers["Idempotency-Attempt"] = String(attempt);
  let response;
  try {
    const content = body === undefined ? undefined : JSON.stringify(body);
    const once = method === "GET" ? fetchWithRetry : fetch;
    response = await once(address(path, query), { method, headers, body: content, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "unreachable", "");
  }
  const answer = await response.json().catch(() => ({}));
  if (response.status === 401) leaveForLogin();
  if (!response.ok) throw new Refused(response.status, answer.error ?? "error", answer.message ?? "");
  return answer;
}

/** The login has ended: sign in, and come back to where one was. */
export function leaveForLogin() {
  location.assign(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
}

/** A fresh key for a call that must not happen twice; works where crypto.randomUUID does not: plain http. */
export function freshKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
