/** A new chat before the first message: heading, number of ready tools, suggested questions, and what is shown if
 * there is no model. The questions are in `text/samples.ts`. */

import { useOperation, usePages } from "../../api/hooks";
import { samples } from "../../text/samples";
import { Status } from "../../ui/Status";
import { AddModel } from "./ComposerMenus";
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
  const { data: tools } = usePages("tools", {});
  if (models && !model) return <NoModel text={`${lookedFor(models)} ${TEXT.demoWorks}`} onModel={onModel} />;
  return (
    <div className="empty-chat">
      <div className="empty-text">
        <h1>{TEXT.empty}</h1>
        <p className="empty-intro">{tools && TEXT.emptyAbout(tools.filter((tool) => tool.enabled).length)}</p>
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

function NoModel({ text, onModel }: { text: string; onModel: (model: string) => void }) {
  return (
    <div className="empty-chat">
      <div className="empty-text">
        <Status shape="need" word={TEXT.needsModel} />
        <p>{text}</p>
        <div className="row">
          <AddModel onModel={onModel} />
          <button type="button" className="btn small" onClick={() => onModel("demo")}>
            {TEXT.useDemo}
          </button>
        </div>
      </div>
    </div>
  );
}
