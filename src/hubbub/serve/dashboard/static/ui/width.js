// Whether there is room for what is laid out in two directions; what else a width asks for is in the styles.

import { signal } from "../vendor/ui.js";

const wide = matchMedia("(min-width: 760px)");

export const isWide = signal(wide.matches);
wide.addEventListener("change", () => (isWide.value = wide.matches));
