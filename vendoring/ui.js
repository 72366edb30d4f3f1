// The little that every view needs: elements, signals, and the one way to write elements.
import { h } from "preact";
import htm from "htm";

export { Fragment, h, render } from "preact";
export { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
export { batch, computed, effect, signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
export const html = htm.bind(h);
