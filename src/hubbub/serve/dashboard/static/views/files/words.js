// What is said of claims, in sentences.

import { list, t } from "../../words.js";

const MOST = 3; // names in one sentence

/** Who overlaps, and on what. @param {{agents: string[], files: string[], areas: string[]}} overlap */
export function clashWords({ agents, files, areas }) {
  const places = [...files, ...areas.map((area) => t("files.area", { name: area }))];
  const named = places.slice(0, MOST);
  const more = places.length - named.length;
  const where = list(more > 0 ? [...named, t("files.more_places", { count: more })] : named);
  return t("files.clash", { agents: list(agents), where });
}
