/** Markdown whose code, the largest part of a chat, is fetched after the page is usable; the plain text until then. */

import { deferred } from "./deferred";

export const Markdown = deferred(
  () => import("./Markdown").then((module) => module.Markdown),
  ({ text }) => (
    <p className="unformatted" dir="auto">
      {text}
    </p>
  ),
);
