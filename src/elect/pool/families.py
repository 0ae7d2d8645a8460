"""The eight families with a shared-work implementation, by name."""

from elect.pool.margin import OCSVM
from elect.pool.proximity import ABOD, COF, KNN, LOF
from elect.pool.sampling import HBOS, LODA, IForest
from elect.pool.work import Family

FAMILIES: dict[str, Family] = {
    family.name: family for family in (LODA(), ABOD(), IForest(), KNN(), LOF(), HBOS(), OCSVM(), COF())
}
