// What can be done to all the cards that were chosen.

import { html } from "../../vendor/ui.js";
import { may, shown } from "../../model/moment.js";
import { BulkBar, clear, selected } from "../../ui/selection.js";
import { t } from "../../words.js";
import { DOINGS, isAble, performOnAll } from "../task/doing.js";

export function Bulk() {
  if (!selected.value.size || !may.value.write) return null;
  const able = DOINGS.filter((doing) => doing.bulk && chosen().some((task) => isAble(doing, task)));
  const actions = able.map(({ id, icon, danger }) => ({
    label: t(`inspector.${id}`), icon, danger, run: () => performOnAll(id, chosen()).then(clear),
  }));
  return html`<${BulkBar} actions=${actions} />`;
}

const chosen = () => [...selected.value].map((id) => shown.value.tasks.get(id)).filter(Boolean);
