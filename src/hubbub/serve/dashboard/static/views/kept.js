// Long lists stay cheap: an element is made anew only when something that it is made from is another, and Preact
// passes over an element that is the same object as before.

import { useRef } from "../vendor/ui.js";

/** @returns {(key: string, from: any[], make: () => object) => object} the element of that key */
export function useKept() {
  const kept = useRef(new Map());
  return (key, from, make) => {
    const old = kept.current.get(key);
    if (old && from.length === old.from.length && from.every((each, index) => each === old.from[index])) {
      return old.element;
    }
    const element = make();
    kept.current.set(key, { from, element });
    return element;
  };
}
