/** The lists of models of several vendors, each as it arrives; one that fails leaves a note with the reason. */

import { useQueries } from "@tanstack/react-query";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import type { ModelList, Vendor } from "../../api/types";
import { optionsOf, type ModelOption } from "./listing";
import { CHOOSE } from "./text";

export interface ModelLists {
  lists: readonly ModelList[];
  /** By their whole names. */
  options: readonly ModelOption[];
  notes: readonly string[];
  loading: boolean;
}

export function useModelLists(vendors: readonly Vendor[], enabled = true): ModelLists {
  return useQueries({
    queries: vendors.map(({ vendor }) => ({
      queryKey: ["model_list", { vendor }],
      queryFn: () => run("model_list", { vendor }),
      enabled,
    })),
    combine: (asked) => {
      const lists = asked.flatMap(({ data }) => data ?? []);
      const failed = lists
        .filter((list) => !list.listed)
        .map(({ vendor, reason }) => CHOOSE.unlisted(titleOf(vendor), reason));
      const errors = asked.flatMap(({ error }) => (error ? [sentence(error)] : []));
      return {
        lists,
        options: lists.flatMap((list) => optionsOf(list.models, list.vendor)),
        notes: [...failed, ...errors],
        loading: asked.some(({ isFetching }) => isFetching),
      };
    },
  });

  function titleOf(name: string): string {
    return vendors.find(({ vendor }) => vendor === name)?.title ?? name;
  }
}
