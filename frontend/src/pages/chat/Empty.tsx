/** A new chat before the first message: heading, number of ready tools, suggested questions, and what is shown if
 * there is no model. The questions are in `text/samples.ts`. */

import { useState } from "react";

import { useOperation } from "../../api/hooks";
import { samples } from "../../text/samples";
import { LearnMore } from "../../ui/LearnMore";
import { Status } from "../../ui/Status";
import { ConnectForm } from "../models/forms";
import { lookedFor } from "./models";
import { TEXT } from "./text";

interface Props {
  model: string;
  onAsk: (text: string) => void;
  onModel: (model: string) => void;
}

/** A chat that has not begun: what there is, and three questions that work now. */
export function Empty({ model, onAsk, onModel }: Props) {
  const { data: models } = useOperation("models", {});
  const { data: info } = useOperation("host_info", {});
  const [adding, setAdding] = useState(false);
  if (models && (!model || adding)) {
    return (
      <>
        <NoModel
          text={`${lookedFor(models)} ${TEXT.demoWorks}`}
          onAdd={() => setAdding(true)}
          onDemo={() => onModel("demo")}
        />
        {adding && <ConnectForm onClose={() => setAdding(false)} onModel={onModel} />}
      </>
    );
  }
  return (
    <div className="empty-chat">
      <div className="empty-text">
        <h1>{TEXT.empty}</h1>
        <p className="empty-intro">{info && TEXT.emptyAbout(info.counts.tools)}</p>
        <div className="row">
          {samples(model).map((text) => (
            <button key={text} type="button" className="btn small" onClick={() => onAsk(text)}>
              {text}
            </button>
          ))}
        </div>
      </div>
    </div>
  );
}

function NoModel({ text, onAdd, onDemo }: { text: string; onAdd: () => void; onDemo: () => void }) {
  return (
    <div className="empty-chat">
      <div className="empty-text">
        <Status shape="need" word={TEXT.needsModel} />
        <p>
          {text} <LearnMore page="models.html" />
        </p>
        <div className="row">
          <button type="button" className="btn primary small" onClick={onAdd}>
            {TEXT.addModel}
          </button>
          <button type="button" className="btn small" onClick={onDemo}>
            {TEXT.useDemo}
          </button>
        </div>
      </div>
    </div>
  );
}
