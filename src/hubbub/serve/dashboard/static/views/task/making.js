// A new task: where another open one is the same job, it is asked whether to make it all the same.

import { act } from "../../hub/actions.js";
import { t } from "../../i18n.js";
import { confirm } from "../../shell/dialogs.js";

/** @param {object} values  what REST takes @returns {Promise<object|null>} null: refused, or thought better of it */
export const makeTask = (values) =>
  act("createTask", values, {
    duplicate: async (text) => {
      const said = text.replace(/; say anyway .*$/, "."); // what programs do, the button does here
      const words = { title: t("inspector.duplicate_title"), text: said, action: t("inspector.duplicate_make") };
      return (await confirm(words)) ? act("createTask", { ...values, anyway: true }) : null;
    },
  });
