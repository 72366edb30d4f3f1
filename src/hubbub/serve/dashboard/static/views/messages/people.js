// The name by which people are written to: every person who belongs to the project answers for it.

export const HUB = "hub";
export const PEOPLE = new Set([HUB]);
