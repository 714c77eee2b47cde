/** The Workflows page without any workflow: the ways to begin one. */

import { Link } from "../../../app/router";
import { LearnMore } from "../../../ui/LearnMore";
import { LIST } from "../text/list";
import type { Begin } from "./begin";

/** The ways to begin. */
export function Empty({ onBegin, onImport }: { onBegin: (begin: Begin) => void; onImport: () => void }) {
  const { ways } = LIST;
  return (
    <div className="workflow-empty">
      <p className="text-reading secondary">
        {LIST.empty} <LearnMore page="workflows.html" />
      </p>
      <ul className="begin-list">
        <li>
          <b className="bold">{ways.chat}</b>
          <p className="secondary text-small">{ways.chatAbout}</p>
          <Link className="btn small" href="/chat">
            {LIST.openChat}
          </Link>
        </li>
        <li>
          <b className="bold">{ways.template}</b>
          <p className="secondary text-small">{ways.templateAbout}</p>
          <button type="button" className="btn small" onClick={() => onBegin({ what: "templates" })}>
            {LIST.templates}
          </button>
        </li>
        <li>
          <b className="bold">{ways.plan}</b>
          <p className="secondary text-small">{ways.planAbout}</p>
          <button type="button" className="btn small" onClick={() => onBegin({ what: "plan" })}>
            {LIST.plan}
          </button>
        </li>
      </ul>
      <p className="secondary">
        <button type="button" className="plain-button link-button" onClick={() => onBegin({ what: "blank" })}>
          {ways.blank}
        </button>
        {" · "}
        <button type="button" className="plain-button link-button" onClick={onImport}>
          {LIST.importFile}
        </button>
      </p>
    </div>
  );
}
