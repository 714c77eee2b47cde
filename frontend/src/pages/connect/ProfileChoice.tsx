import { useOperation } from "../../api/hooks";
import { setSearch, useSearch } from "../../app/router";
import { Segments } from "../../ui/Segments";
import { namedFirst } from "./order";
import { viewName } from "./views";
import { WORDS } from "./words";

/** Which view the snippets are for; it stands in the address. */
export function useProfile(): string {
  return useSearch().get("profile") ?? "";
}

export function ProfileChoice() {
  const { data } = useOperation("profile_list", {});
  const chosen = useProfile();
  if (!data || data.length < 2) return null;
  return (
    <>
      <span className="m t12">{WORDS.profile}</span>
      <Segments
        label={WORDS.profile}
        value={chosen}
        options={namedFirst(data).map((view) => ({ value: view.name, name: viewName(view) }))}
        onChange={(profile) => setSearch({ profile })}
      />
    </>
  );
}
