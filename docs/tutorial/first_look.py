# %% [markdown]
# # A first look
#
# Which rows of a table are odd, and why. The table is `examples/payments.csv` of the repository; take your own in its
# place: any pandas or polars frame will do.
# %%
import polars as pl

from elect import ElectDetector, Feedback

payments = pl.read_csv("examples/payments.csv")
payments.head()
# %% [markdown]
# `checked` knows which rows are odd. It must not be seen: we keep it aside, to look how well it went at the end.
# %%
is_odd = (payments["checked"] != "ok").to_numpy()
table = payments.drop("checked")

detector = ElectDetector(verbose=True).fit(table)
detector
# %% [markdown]
# A detector shows its flagged rows. Each has reasons; these are those of one row:
# %%
for reason in detector.explain(table, [781])[0].reasons:
    print(reason)
# %% [markdown]
# Beside the ranking there is *one* detector to keep, a PyOD object, and why it was elected:
# %%
detector.selection_
# %%
print(detector.detector_)
# %% [markdown]
# How well did it go? The labels were not used until here.
# %%
from sklearn.metrics import average_precision_score

print("average precision", round(average_precision_score(is_odd, detector.decision_scores_), 3))
flagged = detector.labels_ == 1
print(f"{is_odd[flagged].sum()} of the {flagged.sum()} flagged rows are odd; {is_odd.sum()} are odd in all")
# %% [markdown]
# ## Answers
#
# A person looks at ten rows and says which are odd; here the column knows. Answers speak for similar rows too.
# %%
session = Feedback(table, aim="find")
for _ in range(10):
    row = session.ask()
    session.tell(row, bool(is_odd[row]))
session
# %% [markdown]
# ## New rows
#
# A fitted detector scores new rows, and tells whether they still come from the same world. Here a unit was changed:
# %%
later = table.tail(300).with_columns(pl.col("weight_kg") * 2.2)
print(detector.predict(later).sum(), "of", len(later), "rows flagged")
drift = detector.drift(later)
print(drift)
print(*drift.columns, sep="\n")
# %% [markdown]
# `detector.report("report.html")` writes what was found as one file to send to somebody.
