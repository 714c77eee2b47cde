/** The shapes of the host's answers about accounts, under short names. */

import type { Params, Result } from "../../api/client";

export type Provider = Result<"account_providers">[number];
export type Field = Provider["fields"][number];
export type Account = Result<"account_list">[number];
export type Added = Result<"account_add">;
export type Check = Result<"account_test">;
export type AddRequest = Params<"account_add">;
