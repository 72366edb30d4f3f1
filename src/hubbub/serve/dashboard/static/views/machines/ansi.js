// What a program wrote for a terminal, as plain text: colours, cursor moves and other control characters are gone.

const COMMAND = /\[[0-?]*[ -/]*[@-~]/; // colours, moves
const TITLE = /\][^\x07\x1b]*(?:\x07|\x1b\\)?/;
const STRING = /[PX^_][^\x1b]*(?:\x1b\\)?/;
const OTHER = /[ -/]*[0-~]?/;
const AFTER_ESCAPE = [COMMAND, TITLE, STRING, OTHER].map(({ source }) => source).join("|");
const SEQUENCE = new RegExp(`\\x1b(?:${AFTER_ESCAPE})`, "g");
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** @param {string} text */
export const plain = (text) => text.replace(SEQUENCE, "").replace(CONTROL, "");
