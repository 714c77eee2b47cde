/** Choosing the profile that the shown command and entry are for; nothing if there is only one. */

import { useOperation } from "../../api/hooks";
import { setSearch, useSearch } from "../../app/router";
import { Segments } from "../../ui/Segments";
import { namedFirst } from "./order";
import { viewName } from "./profileText";
import { TEXT } from "./text";

/** The profile that the snippets are for, from the address. */
export function useProfile(): string {
  return useSearch().get("profile") ?? "";
}

export function ProfileChoice() {
  const { data } = useOperation("profile_list", {});
  const chosen = useProfile();
  if (!data || data.length < 2) return null;
  return (
    <>
      <span className="muted text-small">{TEXT.profile}</span>
      <Segments
        label={TEXT.profile}
        value={chosen}
        options={namedFirst(data).map((view) => ({ value: view.name, name: viewName(view) }))}
        onChange={(profile) => setSearch({ profile })}
      />
    </>
  );
}
