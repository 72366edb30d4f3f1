// Large views are drawn a few times a second, however much happens: a single change at once, a burst in steps.

import { effect, useEffect, useSignal } from "../vendor/ui.js";

const PAUSE = 250; // milliseconds; shorter is not seen, and would leave no time for anything else

/** @template T @param {{value: T, peek: () => T}} source a signal @returns {{value: T}} the same, in steps */
export function useCalm(source) {
  const calm = useSignal(source.peek());
  useEffect(() => {
    let timer;
    let last = -Infinity;
    const follow = () => {
      timer = undefined;
      last = performance.now();
      calm.value = source.peek();
    };
    const stop = effect(() => {
      if (source.value === calm.peek() || timer !== undefined) return;
      const left = last + PAUSE - performance.now();
      if (left <= 0) follow();
      else timer = setTimeout(follow, left);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [source]);
  return calm;
}
