import { useOperation } from "../../api/hooks";
import { Link } from "../../app/router";
import { Status } from "../../ui/Status";
import { lookedFor } from "./models";
import { samples, WORDS } from "./words";

interface Props {
  model: string;
  onAsk: (text: string) => void;
  onModel: (model: string) => void;
}

/** A chat that has not begun: what there is, and three questions that work now. */
export function Empty({ model, onAsk, onModel }: Props) {
  const { data: models } = useOperation("models", {});
  const { data: tools } = useOperation("tools", {});
  if (models && !model) return <NoModel text={`${lookedFor(models)} ${WORDS.demoWorks}`} onDemo={() => onModel("demo")} />;
  return (
    <div className="begin">
      <div className="mt">
        <h1 className="t22">{WORDS.empty}</h1>
        <p style={{ minHeight: "2.9em" }}>{tools && WORDS.emptyAbout(tools.filter((tool) => tool.enabled).length)}</p>
        <div className="row">
          {samples(model).map((text) => (
            <button key={text} type="button" className="btn sm" onClick={() => onAsk(text)}>{text}</button>
          ))}
        </div>
      </div>
    </div>
  );
}

function NoModel({ text, onDemo }: { text: string; onDemo: () => void }) {
  return (
    <div className="begin">
      <div className="mt">
        <Status shape="need" word={WORDS.needsModel} />
        <p>{text}</p>
        <div className="row">
          <Link className="btn pri sm" href="/settings#models">{WORDS.addModel}</Link>
          <button type="button" className="btn sm" onClick={onDemo}>{WORDS.useDemo}</button>
        </div>
      </div>
    </div>
  );
}
