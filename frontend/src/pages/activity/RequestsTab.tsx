import { refreshOn, useOperation } from "../../api/hooks";
import { Link } from "../../app/router";
import { count, day, money } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { Loading } from "../../ui/Loading";
import { Trouble } from "../../ui/Trouble";
import { WORDS } from "./words";

refreshOn("chat", "model_requests");

/** What each turn of a chat took. */
export function RequestsTab() {
  const { data, error, refetch } = useOperation("model_requests", { limit: 500 });
  if (error) return <Trouble error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={8} height={36} />;
  if (data.turns.length === 0) return <p className="empty">{WORDS.requestsEmpty}</p>;
  const { requests } = WORDS;
  return (
    <>
      <p className="q num t12" style={{ margin: "14px 0 6px" }}>
        {count(data.input)} tokens sent and {count(data.output)} received in {data.days} days{data.cost === null ? "" : `, ${money(data.cost)}`}.
      </p>
      <table className="al rq" aria-label={WORDS.tabs.requests}>
        <colgroup><col style={{ width: 92 }} /><col /><col style={{ width: "26%" }} /><col style={{ width: 70 }} /><col style={{ width: 84 }} /><col style={{ width: 84 }} /><col style={{ width: 76 }} /></colgroup>
        <thead>
          <tr>
            <th scope="col">{requests.time}</th><th scope="col">{requests.chat}</th><th scope="col">{requests.model}</th><th scope="col" className="r">{requests.rounds}</th>
            <th scope="col" className="r">{requests.input}</th><th scope="col" className="r">{requests.output}</th><th scope="col" className="r">{requests.cost}</th>
          </tr>
        </thead>
        <tbody>
          {data.turns.map((turn, index) => (
            <tr key={index}>
              <td className="tm">{day(turn.time)}</td>
              <td><Link href={`/chat/${encodeURIComponent(turn.chat)}`}>{reveal(turn.title || "Untitled")}</Link></td>
              <td><code>{reveal(turn.model)}</code></td>
              <td className="r num">{turn.rounds}</td>
              <td className="r num">{count(turn.input)}</td>
              <td className="r num">{count(turn.output)}</td>
              <td className="r num">{turn.cost === null ? "–" : money(turn.cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
