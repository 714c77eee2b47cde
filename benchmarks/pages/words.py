"""Sentences to fill pages with, each one unique, in several languages."""

from __future__ import annotations

from random import Random

SENTENCES: dict[str, tuple[str, ...]] = {
    "en": (
        "The council reviewed report {n} and asked for a second opinion before the end of the month.",
        "Engineers measured a difference of {n} units, which is larger than the models had predicted.",
        "Visitors who came on day {n} said that the quiet garden behind the hall was the best part.",
        "In version {n} the setting was renamed, because its old name suggested the opposite.",
        "A survey of {n} readers found that most of them prefer short answers with one clear example.",
    ),
    "de": (
        "Der Ausschuss prüfte den Bericht {n} und bat vor Ende des Monats um eine zweite Meinung.",
        "Die Messung ergab einen Unterschied von {n} Einheiten, mehr als die Modelle erwarten ließen.",
        "Besucher vom Tag {n} nannten den stillen Garten hinter der Halle den schönsten Teil.",
    ),
    "fr": (
        "Le conseil a examiné le rapport {n} et demandé un second avis avant la fin du mois.",
        "Les ingénieurs ont mesuré un écart de {n} unités, plus grand que celui prévu par les modèles.",
    ),
    "es": (
        "El consejo revisó el informe {n} y pidió una segunda opinión antes de fin de mes.",
        "Los ingenieros midieron una diferencia de {n} unidades, mayor de lo que preveían los modelos.",
    ),
    "ru": (
        "Совет рассмотрел отчёт {n} и попросил второе мнение до конца месяца.",
        "Инженеры измерили разницу в {n} единиц, что больше, чем предсказывали модели.",
    ),
    "ja": (
        "評議会は報告書{n}を検討し、月末までに別の意見を求めることを決めました。",
        "技術者たちは{n}単位の差を測定しましたが、これは予測よりも大きな値でした。",
    ),
    "zh": (
        "委员会审查了第{n}号报告,并要求在月底之前征求第二种意见。",
        "工程师测得{n}个单位的差异,比模型预测的要大得多。",
    ),
    "ar": (
        "راجع المجلس التقرير رقم {n} وطلب رأيا ثانيا قبل نهاية الشهر الحالي.",
        "قاس المهندسون فرقا قدره {n} وحدة وهو أكبر مما توقعته النماذج.",
    ),
    "hi": (
        "परिषद ने रिपोर्ट {n} की समीक्षा की और महीने के अंत से पहले दूसरी राय मांगी।",
        "इंजीनियरों ने {n} इकाइयों का अंतर मापा जो मॉडल के अनुमान से अधिक था।",
    ),
}
TOPICS = (
    "Harbour",
    "Orchard",
    "Library",
    "Telescope",
    "Railway",
    "Market",
    "Lighthouse",
    "Workshop",
    "Archive",
    "Compiler",
    "Glacier",
    "Theatre",
)


class Words:
    """Numbers its sentences, so that each one can be found again."""

    def __init__(self, random: Random, language: str = "en") -> None:
        self.random = random
        self.language = language
        self._next = random.randrange(10_000, 90_000)

    def number(self) -> int:
        self._next += 1
        return self._next

    def sentence(self) -> str:
        return self.random.choice(SENTENCES[self.language]).format(n=self.number())

    def title(self) -> str:
        return f"{self.random.choice(TOPICS)} notes {self.number()}"
