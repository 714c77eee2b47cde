/** The tab "Model requests": tokens and cost of each turn, and their sum. The host counts them. */

import { refreshOn, useOperation } from "../../api/hooks";
import { Link } from "../../app/router";
import { count, day, money } from "../../ui/amounts";
import { reveal } from "../../ui/hidden";
import { Loading } from "../../ui/Loading";
import { ErrorBox } from "../../ui/ErrorBox";
import { TEXT } from "./text";

refreshOn("chat", "model_requests");

/** What each turn of a chat took. */
export function RequestsTab() {
  const { data, error, refetch } = useOperation("model_requests", { limit: 500 });
  if (error) return <ErrorBox error={error} again={() => void refetch()} />;
  if (!data) return <Loading rows={8} height={36} />;
  if (data.turns.length === 0) return <p className="empty">{TEXT.requestsEmpty}</p>;
  const { requests } = TEXT;
  return (
    <>
      <p className="secondary num text-small list-intro">
        {count(data.input)} tokens sent and {count(data.output)} received in {data.days} days
        {data.cost === null ? ", cost unknown" : `, ${money(data.cost)}`}.
      </p>
      <table className="calls-table requests-table" aria-label={TEXT.tabs.requests}>
        <colgroup>
          <col className="col-day" />
          <col />
          <col className="col-model" />
          <col className="col-rounds" />
          <col className="col-tokens" />
          <col className="col-tokens" />
          <col className="col-cost" />
        </colgroup>
        <thead>
          <tr>
            <th scope="col">{requests.time}</th>
            <th scope="col">{requests.chat}</th>
            <th scope="col">{requests.model}</th>
            <th scope="col" className="align-right">
              {requests.rounds}
            </th>
            <th scope="col" className="align-right">
              {requests.input}
            </th>
            <th scope="col" className="align-right">
              {requests.output}
            </th>
            <th scope="col" className="align-right">
              {requests.cost}
            </th>
          </tr>
        </thead>
        <tbody>
          {data.turns.map((turn, index) => (
            <tr key={index}>
              <td className="time">{day(turn.time)}</td>
              <td>
                <Link href={`/chat/${encodeURIComponent(turn.chat)}`}>{reveal(turn.title || "Untitled")}</Link>
              </td>
              <td>
                <code>{reveal(turn.model)}</code>
              </td>
              <td className="align-right num">{turn.rounds}</td>
              <td className="align-right num">{count(turn.input)}</td>
              <td className="align-right num">{count(turn.output)}</td>
              <td className="align-right num">{turn.cost === null ? "unknown" : money(turn.cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
