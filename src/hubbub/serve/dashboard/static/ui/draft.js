// What somebody has typed and not sent: there again wherever it was typed, for as long as the page lives.
import { useLayoutEffect, useRef } from "../vendor/ui.js";

/** The value of each field, by the name of the place. @type {Map<string, string[]>} */
const drafts = new Map();
const FIELDS = "input[type=text]:not([role]), textarea";

/**
 * Keep what is typed into the fields of an element when it goes, and type it again when it is back.
 * @param {{current: HTMLElement}} box @param {string} name
 * @returns {{current: boolean}} to be set while what is in the fields is being sent
 */
export function useDraft(box, name) {
  const isSent = useRef(false);
  useLayoutEffect(() => {
    const fields = [...(box.current?.querySelectorAll(FIELDS) ?? [])];
    const first = fields.map(({ value }) => value);
    drafts.get(name)?.forEach((value, place) => fields[place] && type(fields[place], value));
    return () => {
      const last = fields.map(({ value }) => value);
      if (isSent.current || last.every((value, place) => value === first[place])) drafts.delete(name);
      else drafts.set(name, last);
    };
  }, [name]);
  return isSent;
}

/** As a person would, so that whoever follows the field hears of it. */
function type(field, value) {
  if (field.value === value) return;
  field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
