// The name by which people are written to: every person who belongs to the project answers for it.

import { t } from "../../words.js";

export const HUB = "hub";

/** What a sender or a recipient is called on the screen. */
export const called = (name) => (name === HUB ? t("messages.people") : name);
