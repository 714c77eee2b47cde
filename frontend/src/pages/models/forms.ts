/** The dialogs that connect and choose models, for pages that show them seldom: fetched after the page is usable. */

import { deferred } from "../../ui/deferred";

export const ConnectForm = deferred(() => import("./ConnectForm").then((module) => module.ConnectForm));
export const ChooseModel = deferred(() => import("./ChooseModel").then((module) => module.ChooseModel));
