// The one place where the page parses HTML: what the hub rendered from Markdown and cleaned (never anything else).

import { html, useLayoutEffect, useRef } from "../vendor/ui.js";

const policy = globalThis.trustedTypes?.createPolicy("hubbub-html", { createHTML: (cleaned) => cleaned });

/** @param {{html: string}} props `html`: from a field of the hub's API that ends in `_html` */
export function Markdown({ html: cleaned }) {
  const box = useRef(null);
  useLayoutEffect(() => {
    box.current.innerHTML = policy ? policy.createHTML(cleaned) : cleaned;
  }, [cleaned]);
  return html`<div class="markdown" dir="auto" ref=${box}></div>`;
}
