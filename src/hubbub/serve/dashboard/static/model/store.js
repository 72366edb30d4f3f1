// What all views read: the picture that is shown, the moment it is of, who looks at it and what they may do.
// `hub/stream.js` writes the live picture, `hub/replay.js` the past one, `hub/actions.js` what waits for the hub.

import { computed, signal } from "../vendor/ui.js";
import { NOUNS, open } from "./fold.js";

/** @typedef {import("./fold.js").Picture} Picture */

/** As the hub knows it; a new object after each flush. @type {import("../vendor/ui.js").Signal<Picture>} */
export const live = signal(open());

/** Whether the first snapshot is there: before, an empty picture means nothing. */
export const loaded = signal(false);

/** The moment that is replayed, `{id, at}`; null while live. */
export const moment = signal(null);

/** The picture of that moment. @type {import("../vendor/ui.js").Signal<Picture|null>} */
export const past = signal(null);

/** The cards, by noun and key, to which something is being done from here that the hub has not told of yet. */
export const pending = signal([]);

/** Whether something is being done to a card: `noun\nkey`. */
export const isPending = (of) => pending.value.includes(of);

/** The picture to show: of the past, or the live one. @type {import("../vendor/ui.js").ReadonlySignal<Picture>} */
export const shown = computed(() => (moment.value ? past.value ?? live.value : live.value));

const maps = Object.fromEntries(NOUNS.map((noun) => [noun, computed(() => shown.value[noun])]));

/** The maps of the shown picture one by one: each changes only when something of its noun did. */
export const { tasks, agents, machines, approvals, letters, overlaps, leases, accounts, budgets, stops } = maps;

/** How far the hub's clock is before this one, in milliseconds. */
export const clockOffset = signal(0);

/** The hub's time, as far as it is known here. */
export const hubNow = () => Date.now() + clockOffset.value;

const tick = signal(Date.now());
setInterval(() => (tick.value = hubNow()), 1000);

/** The hub's time by the second; while replaying, that of the moment. */
export const now = computed(() => moment.value?.at ?? tick.value);

/** The slug of the project that is shown. */
export const project = signal(null);

/** A command for a terminal, for the project that is shown. @param {string} command */
export const inProject = (command) =>
  (project.value === "default" ? command : `${command} --project ${project.value}`);

/** The command that makes a client an agent of the project that is shown. */
export const install = () => inProject("hubbub install claude-code --as ember");

/** Who looks: `{user, owns_hub, csrf, projects: [{slug, name, role}]}`. */
export const me = signal(null);

/** Whether who looks has no hub of their own here: the commands of its owner find it by its data folder. */
export const isGuest = () => me.value !== null && !me.value.owns_hub;

/** The role of who looks, in the project that is shown: viewer, member, admin, owner. */
export const role = computed(() => {
  const membership = me.value?.projects?.find((each) => each.slug === project.value);
  return membership?.role ?? (me.value?.owns_hub ? "owner" : "viewer");
});

/** What who looks may do by role, whatever the moment: what is shown at all. */
export const could = computed(() => ({
  write: role.value !== "viewer",
  manage: role.value === "owner" || role.value === "admin",
}));

/** Since when the hub cannot be reached; null while it can, or has only just been lost. */
export const lostAt = signal(/** @type {number|null} */ (null));

/** Why nothing can be changed now, as a key of words: the past is shown, or the hub is away; null if it can. */
export const standstill = computed(() =>
  (moment.value ? "errors.replaying" : lostAt.value !== null ? "errors.away" : null));

/** What who looks may do now. */
export const may = computed(() => ({
  write: could.value.write && !standstill.value,
  manage: could.value.manage && !standstill.value,
}));

/** The activities that are loaded, oldest first and without patches: so many at most, live and while replaying. */
export const recent = signal([]);
export const RECENT = 4_000;
export const REPLAYED = 20_000;

/** From where on the past can be shown, `{id, at}`; null while there is nothing. */
export const first = signal(null);

/** What has come in with the last flush, oldest first: for views that keep details of their own fresh. */
export const arrived = signal([]);
