// What a program wrote for a terminal, as plain text: colours, cursor moves and other control characters are gone.

const SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~]?)/g;
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** @param {string} text */
export const plain = (text) => text.replace(SEQUENCE, "").replace(CONTROL, "");
