// The types of ui.js, as the packages that it is built of declare them; read by `make lint` alone.
import { h } from "preact";
import htm from "htm";

export { Fragment, h, render } from "preact";
export { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
export type { ReadonlySignal, Signal } from "@preact/signals";
export { batch, computed, effect, signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
export declare const html: ReturnType<typeof htm.bind<ReturnType<typeof h>>>;
