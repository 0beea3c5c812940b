"""Made-up letters to a town's library, to try the studio with: `python benchmarks/studio_letters.py letters.csv`."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from nodewise.ground.compute import numpy_generator

TOPICS = {
    "opening hours": (
        [
            "A locked door",
            "Open on Sundays?",
            "Which hours are right?",
            "A late evening",
            "The day after the holiday",
            "Closed before time",
        ],
        [
            (
                "I stood before a locked door at half past six, although the notice at the entrance says that you close"
                " at seven."
            ),
            "Could the library open on Sunday afternoons, at least in winter, when there is little else to do in town?",
            "Your opening hours on the website differ from those on the door, so I came in vain on Monday morning.",
            "People who work until six can hardly ever come; a single late evening a week would help a great deal.",
            "Nobody could tell me on the telephone whether you are open on the day after the public holiday.",
            "The reading room closed twenty minutes before time last Friday, and we were asked to leave in a hurry.",
        ],
    ),
    "loans": (
        [
            "A book I returned",
            "My reservation",
            "Four more weeks",
            "A fee that is not mine",
            "More than ten at once?",
            "The reminder came late",
        ],
        [
            "I returned the book on the third of the month, yet my account still shows it as borrowed and overdue.",
            (
                "The reservation that I made five weeks ago has not arrived, while the catalogue lists three copies on"
                " the shelf."
            ),
            (
                "Please renew my loans for another four weeks; the renewal button says that the limit of two renewals"
                " is reached."
            ),
            "A late fee was charged for a book that my daughter had brought back to the branch by the station.",
            "May I borrow more than ten books at once if I am preparing for an examination?",
            "The reminder about the due date came a day after the loan had run out, so I had to pay the fee.",
        ],
    ),
    "events": (
        [
            "Thursday evening",
            "Saturday mornings",
            "Two places, please",
            "The lecture was full",
            "Our poster",
            "The puppet theatre",
        ],
        [
            "The reading on Thursday evening was wonderful, and I hope that the author will be invited again.",
            "Is the story hour for children still held on Saturday mornings, and do we need to sign up for it?",
            "I should like to register two persons for the workshop on writing short stories in March.",
            (
                "The lecture about the history of the river was full, and thirty people had to stand; is a second"
                " evening planned?"
            ),
            "Our book club is looking for new members; may we put a poster beside the programme of events?",
            "The puppet theatre began half an hour late, and the smallest guests of the show were tired by then.",
        ],
    ),
    "computers": (
        [
            "Second floor, again",
            "My laptop",
            "Cannot sign in",
            "It does not open",
            "A minute for a search",
            "After the third page",
        ],
        [
            "The printer on the second floor has been out of order for a week and shows a message about a paper jam.",
            "My laptop finds the wireless network, but the page where the password is entered never loads.",
            "I cannot sign in to the catalogue since the update; the website says that my card number is unknown.",
            "E-books that I download do not open on my reader, and the app asks for the password again and again.",
            "The computers near the entrance are so slow that a search in the catalogue takes a minute.",
            "Scanning to a memory stick stops after the third page, and the screen freezes until it is restarted.",
        ],
    ),
    "building": (
        ["In coat and scarf", "Out of reach", "Not so quiet", "Always taken", "The lower shelves", "Some fresh air"],
        [
            "The heating in the reading room does not work, and everybody sits there in a coat and scarf.",
            "The lift has been broken since Tuesday, so I cannot reach the upper floor with a wheelchair.",
            "Groups talk loudly in the quiet room, and the door to the staircase slams all the time.",
            "There are too few bicycle stands at the entrance, and they are always taken by ten o'clock.",
            "Half of the lights in the basement flicker, which makes the lower shelves impossible to read.",
            "Could the windows above the staircase be opened in summer? The air in the hall is stifling.",
        ],
    ),
}
OPENINGS = [
    "Good morning.",
    "Dear library,",
    "Hello,",
    "A short note from a regular reader.",
    "To whom it may concern,",
    "I have been a member for nine years.",
    "",
]
CLOSINGS = [
    "Thank you for looking into it.",
    "I would be glad to hear from you.",
    "Many thanks, and keep up the good work.",
    "Otherwise I am very content.",
    "Please let me know what can be done.",
    "With kind regards",
    "It would be a pity if it stayed so.",
    "",
]


def letters(count: int = 240, seed: int = 7) -> list[dict[str, str]]:
    """Rows with id, title, text, date and the topic that each was made from."""
    draw = numpy_generator(seed, "letters")
    names = list(TOPICS)
    rows = []
    for number in range(count):
        topic = names[int(draw.choice(len(names), p=[0.16, 0.28, 0.2, 0.22, 0.14]))]
        titles, sentences = TOPICS[topic]
        first, second = draw.choice(len(sentences), 2, replace=False)
        said = [
            OPENINGS[draw.integers(len(OPENINGS))],
            sentences[first],
            sentences[second] if draw.random() < 0.6 else "",
        ]
        if draw.random() < 0.4:  # a letter may touch a second topic: those are worth asking a person about
            said.append(TOPICS[names[draw.integers(len(names))]][1][draw.integers(6)])
        said.append(CLOSINGS[draw.integers(len(CLOSINGS))])
        day = 1 + number % 28
        rows.append(
            {
                "id": f"letter {number + 1}",
                "title": titles[first],
                "text": " ".join(filter(None, said)),
                "received": f"2024-{1 + number // 28 % 12:02d}-{day:02d}",
                "topic": topic,
            }
        )
    return rows


def write_letters(path: Path, *, topic: bool = False, count: int = 240) -> list[dict[str, str]]:
    """Write them as CSV, by default without the topic, as somebody has them who is about to label.

    Returns the rows with it.
    """
    rows = letters(count)
    columns = [name for name in rows[0] if topic or name != "topic"]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return rows


if __name__ == "__main__":
    write_letters(Path(sys.argv[1]), topic="--topic" in sys.argv)
